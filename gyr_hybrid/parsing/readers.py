"""Files and folders to LlamaIndex documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from llama_index.core.schema import Document, MediaResource

from gyr_hybrid.errors import DocumentError, GyrError
from gyr_hybrid.parsing.decoding import decode
from gyr_hybrid.parsing.front_matter import FrontValue, split_front_matter
from gyr_hybrid.parsing.identity import check_explicit_id, encode_path
from gyr_hybrid.parsing.structure import first_title

PathLike: TypeAlias = str | os.PathLike[str]

MARKDOWN = "text/markdown"
PLAIN = "text/plain"
# Files of these names in a folder belong to the index's owner (words, synonyms), they are no documents.
LEXICON_FILES = frozenset(
    (
        "synonyms.txt",
        "userdict.txt",
        "code_patterns.txt",
        "class_words.txt",
        "family_words.txt",
        "contrast.txt",
    )
)


class MissingPathError(DocumentError, FileNotFoundError):
    """A path given to `load_documents` does not exist."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader makes of one file."""

    text: str
    """The body; offsets of nodes count its code points."""
    mimetype: str
    """How the text is structured: ``MARKDOWN`` or ``PLAIN``."""
    metadata: dict[str, FrontValue] = field(default_factory=dict)
    body_line: int = 1
    """1-based line of the file where the text begins."""


Reader: TypeAlias = Callable[[bytes], Reading]


class LoadedDocuments(list[Document]):
    """The documents read, a plain list, with what could not be read beside it."""

    def __init__(
        self,
        documents: Iterable[Document] = (),
        *,
        failed: dict[str, str] | None = None,
        roots: Iterable[str] = (),
    ) -> None:
        super().__init__(documents)
        self.failed: dict[str, str] = dict(failed or {})
        """Path of each file that could not be read -> reason."""
        self.roots: list[str] = list(roots)
        """The given paths, absolute, POSIX."""
        self._origins: dict[int, tuple[Document, str, str]] = {}

    def root_of(self, document: Document) -> str | None:
        """The given path (absolute, POSIX) that ``document`` was read from; None for a foreign document."""
        origin = self._origins.get(id(document))
        return origin[1] if origin is not None else None

    def path_of(self, document: Document) -> str | None:
        """POSIX path of the file of ``document`` below `root_of` it, ``.`` when that is the file itself."""
        origin = self._origins.get(id(document))
        return origin[2] if origin is not None else None

    def _add(self, document: Document, root: str, path: str) -> None:
        self.append(document)
        self._origins[id(document)] = (document, root, path)


def load_documents(
    path_or_paths: PathLike | Iterable[PathLike], *, show_progress: bool = False
) -> LoadedDocuments:
    """Read files, and folders with all below them, in the order of their paths.

    Markdown and plain text, with front matter. The id of a document is its front matter ``id``, else
    its path relative to the folder given. What cannot be read is in ``.failed`` with the reason;
    hidden files are passed over. Raises only when a given path does not exist (`DocumentError`,
    also `FileNotFoundError`).

    >>> docs = load_documents("data/helpcenter")            # doctest: +SKIP
    >>> docs[0].id_, docs[0].metadata["title"], docs.failed  # doctest: +SKIP
    ('kb-001', '套餐与价格', {})
    """
    from llama_index.core.utils import get_tqdm_iterable

    paths = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    given = [Path(path) for path in paths]
    for path in given:
        if not path.exists():
            raise MissingPathError(
                f"The path {str(path)!r} does not exist; check it and the working directory."
            )
    loaded = LoadedDocuments(roots=[_absolute(path) for path in given])
    files = [(path, file, relative) for path in given for file, relative in _files(path)]
    for path, file, relative in get_tqdm_iterable(files, show_progress, "Reading files"):
        try:
            document = _read(file, relative)
        except GyrError as error:
            loaded.failed[str(file)] = str(error)
        except Exception as error:  # whatever a broken file does to a parser, the others go in
            loaded.failed[str(file)] = f"{type(error).__name__}: {error}"
        else:
            loaded._add(document, _absolute(path), file.relative_to(path).as_posix())
    return loaded


def _absolute(path: Path) -> str:
    return Path(os.path.abspath(path)).as_posix()


def _files(path: Path) -> list[tuple[Path, str]]:
    """(file, POSIX path relative to ``path``) of all that is to be read, ordered by the latter."""
    if not path.is_dir():
        return [(path, path.name)]
    found = []
    for folder, subfolders, names in os.walk(path):
        subfolders[:] = [name for name in subfolders if not name.startswith(".")]
        for name in names:
            if not name.startswith(".") and name not in LEXICON_FILES:
                file = Path(folder, name)
                found.append((file, file.relative_to(path).as_posix()))
    return sorted(found, key=lambda item: item[1])


def _read(file: Path, relative: str) -> Document:
    reader = _READERS.get(file.suffix.lower())
    if reader is None:
        raise DocumentError(
            f"There is no reader for {file.suffix or 'files without an extension'}; readable are {' '.join(sorted(_READERS))}."
        )
    if not stat.S_ISREG(file.stat().st_mode):
        raise DocumentError("It is no regular file; give a file or a folder.")
    reading = reader(file.read_bytes())
    metadata = dict(reading.metadata)
    doc_id = check_explicit_id(metadata["id"]) if "id" in metadata else encode_path(relative)
    title = metadata.get("title")
    if not isinstance(title, str) or not title.strip():
        title = first_title(reading.text, plain=reading.mimetype == PLAIN) or Path(relative).stem
    metadata["title"] = " ".join(title.split())
    metadata.setdefault("source", relative)
    return Document(
        id_=doc_id,
        text_resource=MediaResource(text=reading.text, mimetype=reading.mimetype),
        metadata={**metadata, "body_line": reading.body_line},
    )


def _read_markdown(data: bytes) -> Reading:
    return _read_text(data, MARKDOWN)


def _read_plain(data: bytes) -> Reading:
    return _read_text(data, PLAIN)


def _read_text(data: bytes, mimetype: str) -> Reading:
    front = split_front_matter(decode(data))
    return Reading(front.body, mimetype, dict(front.metadata), front.body_line)


_READERS: dict[str, Reader] = {
    ".md": _read_markdown,
    ".markdown": _read_markdown,
    ".txt": _read_plain,
    ".text": _read_plain,
}
