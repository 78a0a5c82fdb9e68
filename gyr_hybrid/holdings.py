"""What an index holds, to look at: documents by their ids, codes with the sections that bear them, words of its own."""

from __future__ import annotations

from pathlib import Path

from llama_index.core.schema import Document

from gyr_hybrid.analysis import LEXICON_FILES, Analyzer, Code
from gyr_hybrid.analysis.word_lists import CONTRASTS_FILE, SYNONYMS_FILE, read_entries
from gyr_hybrid.errors import DocumentError
from gyr_hybrid.storage import KnowledgeStore, View


def word_lists(analyzer: Analyzer, folder: str | Path | None) -> dict[str, int]:
    """Word list -> how many entries of its own an index works with; lists without any are left out."""
    own = analyzer.to_dict()
    counts = {name: len(own[argument]) for name, argument in LEXICON_FILES.items()}
    if folder is not None:
        counts |= {name: len(read_entries(Path(folder) / name)) for name in (SYNONYMS_FILE, CONTRASTS_FILE)}
    return {name: count for name, count in counts.items() if count}


def find_document(store: KnowledgeStore, doc_id: str) -> Document:
    """The version seen today (``kb-002``) or the named one (``kb-002@2``).

    Raises:
        DocumentError: there is no such document, or no version of it is valid today.
    """
    base, _, version = doc_id.partition("@")
    found = store.view().document(base, version or None)
    if found is not None:
        return found
    versions = [str(info.version) for info in store.documents() if info.doc_id == base]
    if not versions:
        raise DocumentError(f"document {doc_id!r} is not in the index")
    if not version:
        raise DocumentError(f"no version of {doc_id!r} is valid today; versions: {', '.join(versions)}")
    raise DocumentError(f"document {base!r} has no version {version!r}; versions: {', '.join(versions)}")


def list_codes(view: View) -> list[Code]:
    """Every code that the view sees, with the sections that bear it in reading order, by canonical form."""
    codes = []
    for known in view.codes.all():
        children = [child for child, _ in view.codes.holders(known.canonical)]
        parents = view.parents(children)
        sections = dict.fromkeys(parents.get(c, c) for c in sorted(children, key=view.position))
        codes.append(
            Code(
                known.text,
                known.canonical,
                known.compact,
                known.kind,
                known.number,
                sections=tuple(sections),
            )
        )
    return sorted(codes, key=lambda code: code.canonical)
