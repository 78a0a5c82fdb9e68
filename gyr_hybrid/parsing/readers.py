"""Files and folders to LlamaIndex documents."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import TypeAlias

from llama_index.core.schema import Document, MediaResource

from gyr_hybrid.analysis.word_lists import WORD_LISTS
from gyr_hybrid.errors import DocumentError, GyrError
from gyr_hybrid.parsing.formats.reading import PLAIN, Reading
from gyr_hybrid.parsing.formats.registry import read_file
from gyr_hybrid.parsing.identity import check_explicit_id, encode_path
from gyr_hybrid.parsing.structure import first_title

PathLike: TypeAlias = str | os.PathLike[str]

MAX_BYTES = 256 << 20


class MissingPathError(DocumentError, FileNotFoundError):
    """A path given to `load_documents` does not exist."""


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

    def add(self, document: Document, root: str, path: str) -> None:
        """Append a document that was read from the file ``path`` below ``root``."""
        self.append(document)
        self._origins[id(document)] = (document, root, path)


def load_documents(
    path_or_paths: PathLike | Iterable[PathLike], *, show_progress: bool = False
) -> LoadedDocuments:
    """Read files, and folders with all below them, in the order of their paths.

    Markdown and plain text with front matter, CSV and JSON Lines; with the extras also HTML, Word, Excel and
    PDF. The id of a document is its front matter ``id``, else its path relative to the folder given. What
    cannot be read is in ``.failed`` with the reason, also when that is a part of a file whose rest was read;
    hidden files are passed over. Raises only when a given path does not exist (`DocumentError`,
    also `FileNotFoundError`).

    >>> docs = load_documents("data/helpcenter")
    >>> docs[0].id_, docs[0].metadata["title"], docs.failed
    ('kb-001', '套餐与价格', {})
    """
    from llama_index.core.utils import get_tqdm_iterable

    paths = [path_or_paths] if isinstance(path_or_paths, str | os.PathLike) else list(path_or_paths)
    for name in paths:
        if not os.path.exists(name):
            raise MissingPathError(
                f"The path {os.fspath(name)!r} does not exist; check it and the working directory."
            )
    given = [Path(path) for path in paths]
    loaded = LoadedDocuments(roots=[_absolute(path) for path in given])
    files = [(path, file, relative) for path in given for file, relative in _files(path)]
    for path, file, relative in get_tqdm_iterable(files, show_progress, "Reading files"):
        try:
            documents, complaint = _read(file, relative)
        except GyrError as error:
            loaded.failed[str(file)] = str(error)
        except Exception as error:  # whatever a broken file does to a parser, the others go in
            loaded.failed[str(file)] = f"{type(error).__name__}: {error}"
        else:
            for document in documents:
                loaded.add(document, _absolute(path), file.relative_to(path).as_posix())
            if complaint is not None:
                loaded.failed[str(file)] = complaint
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
            if not name.startswith(".") and name not in WORD_LISTS:
                file = Path(folder, name)
                found.append((file, file.relative_to(path).as_posix()))
    return sorted(found, key=lambda item: item[1])


def _read(file: Path, relative: str) -> tuple[list[Document], str | None]:
    """The documents of a file, and what of it could not be read while the rest could."""
    status = file.stat()
    if not stat.S_ISREG(status.st_mode):
        raise DocumentError("It is no regular file; give a file or a folder.")
    if status.st_size > MAX_BYTES:
        raise DocumentError(f"The file has {status.st_size:,} bytes, more than {MAX_BYTES:,}; split it.")
    found = read_file(file.read_bytes(), file.suffix)
    documents, complaints = [], [found.complaint] if found.complaint else []
    for reading in found.readings:
        try:
            documents.append(_document(reading, relative))
        except DocumentError as error:
            if len(found.readings) == 1:
                raise
            complaints.append(f"Record {reading.name}: {error}")
    return documents, " ".join(complaints[:5]) or None


def _document(reading: Reading, relative: str) -> Document:
    metadata = dict(reading.metadata)
    if "id" in metadata:
        doc_id = check_explicit_id(metadata["id"])
    else:
        doc_id = encode_path(f"{relative}/{reading.name}" if reading.name else relative)
    title = metadata.get("title")
    if not isinstance(title, str) or not title.strip():
        title = first_title(reading.text, plain=reading.mimetype == PLAIN) or Path(relative).stem
    metadata["title"] = " ".join(title.split())
    metadata.setdefault("source", relative)
    if reading.places:
        metadata["places"] = json.dumps(reading.places, ensure_ascii=False)
    return Document(
        id_=doc_id,
        text_resource=MediaResource(text=reading.text, mimetype=reading.mimetype),
        metadata={**metadata, "body_line": reading.body_line},
        excluded_embed_metadata_keys=["places", "body_line"],
        excluded_llm_metadata_keys=["places", "body_line"],
    )
