"""Which section of the context a model means by an id: as it was written, repaired where that is unambiguous, or none."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from gyr_hybrid.answering.context.labels import DEFAULT_FORMAT, Source

_DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_PREFIX = re.compile(
    r"^(?:\^|#|(?:来源|资料|文档|参考(?:资料|文献)?|出处|引用|见|参见|source|sources|document|doc|docs|reference|ref|refs|"
    r"citation|cite|chunk|see|id)\s*(?:id|编号)?\s*[:：#=]?\s*)+",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d{1,3}")
_WORD = r"(?:chunk|section|sec|part|节|段|第)[-_#.]*"
_SECTION_NUMBER = re.compile(
    rf"(?:@[^#]*)?(?:[#.\-_:/]+(?:{_WORD})?|{_WORD})0*(\d+)节?(?:[#.\-_:/]+(?:{_WORD})?\d+)*", re.IGNORECASE
)
"""A section's number behind a document's id, and what models like to add to it: ``#4``, ``#4.1``, ``#chunk-004``."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One id that the model wrote."""

    raw: str
    node_id: str | None
    """The section of the context that it means, None when it means none."""
    exact: bool
    """False when it was repaired."""


def key_of(text: str) -> str:
    """What is left when case, width, dashes and blanks do not count."""
    return "".join(_DASHES.sub("-", unicodedata.normalize("NFKC", text)).casefold().split())


class SectionResolver:
    """Resolves ids to the given sources.

    >>> SectionResolver([Source("kb-002#4", "kb-002", 4, "[kb-002#4]")]).resolve("来源：KB-002#4.1")
    Reference(raw='来源：KB-002#4.1', node_id='kb-002#4', exact=False)
    """

    def __init__(self, sources: Sequence[Source], template: str = DEFAULT_FORMAT) -> None:
        self._sources = tuple(sources)
        self._exact: dict[str, str | None] = {}
        for source in sources:
            for text in (source.label, source.label.strip("[]【】()（）<>{}"), source.node_id):
                key = key_of(text)
                known = self._exact.setdefault(key, source.node_id)
                if known != source.node_id:
                    self._exact[key] = None
        self._documents: dict[str, list[Source]] = {}
        for source in sources:
            self._documents.setdefault(key_of(source.doc_id), []).append(source)
        literals = [text for text, *_ in string.Formatter().parse(template)]
        self._marks = tuple(m for m in (key_of(t).strip("[]【】()") for t in literals) if len(m) > 2)
        self._shapes = tuple({_shape(d) for d in self._documents if re.search(r"\d", d)})

    def resolve(self, token: str) -> Reference:
        """The section of the context that an id means, however it was written."""
        raw = token.strip()
        if (node_id := self._exact.get(key_of(raw))) is not None:
            return Reference(raw, node_id, True)
        bare = _PREFIX.sub("", raw)
        for text in (raw, bare):
            key = key_of(text)
            if (node_id := self._exact.get(key)) is not None:
                return Reference(raw, node_id, False)
            if (node_id := self._by_document(key)) is not None:
                return Reference(raw, node_id, False)
        if _NUMBER.fullmatch(key_of(bare)) and 1 <= int(key_of(bare)) <= len(self._sources):
            return Reference(raw, self._sources[int(key_of(bare)) - 1].node_id, False)
        return Reference(raw, None, False)

    def looks_cited(self, token: str, reference: Reference) -> bool:
        """Whether a token in brackets is meant as an id, be it known or not."""
        if reference.node_id is not None:
            return True
        key = key_of(token)
        bare = _PREFIX.sub("", token.strip())
        bare_key = key_of(bare)
        if bare != token.strip() and (not bare or re.fullmatch(r"[\w.#@/\-:]*\d[\w.#@/\-:]*", bare_key)):
            return True
        if re.fullmatch(r"\^?\d{1,3}", key) or re.fullmatch(r"[^\s#]+#[^\s#]+(?:#\S+)*", key):
            return True
        if any(mark in key for mark in self._marks):
            return True
        return any(re.fullmatch(shape, bare_key) for shape in self._shapes)

    def _only_introduces(self, text: str) -> bool:
        """Whether what stands before an id is nothing but ``source:`` and the like."""
        for mark in self._marks:
            text = text.removeprefix(mark)
        return not _PREFIX.sub("", text)

    def _by_document(self, key: str) -> str | None:
        """The section meant by a document's id with or without a number behind it."""
        for document in sorted(self._documents, key=len, reverse=True):
            at = key.find(document)
            if not document or at < 0 or (at > 0 and key[at - 1].isalnum()):
                continue
            if at > 0 and not self._only_introduces(key[:at]):
                continue
            rest = key[at + len(document) :]
            sections = self._documents[document]
            if version := re.match(r"@([^#]*)", rest):  # another version is another source
                sections = [s for s in sections if key_of(s.node_id).startswith(f"{document}@{version[1]}#")]
            if not rest or re.fullmatch(r"@[^#]+", rest):
                return sections[0].node_id if len(sections) == 1 else None
            number = _SECTION_NUMBER.fullmatch(rest)
            if number is None:
                continue
            same = [s.node_id for s in sections if s.number == int(number.group(1))]
            return same[0] if len(same) == 1 else None
        return None


def _shape(document: str) -> str:
    """A pattern for ids that look like this one: ``kb-002`` also means ``kb-117``."""
    return "".join(r"\d+" if run[0].isdigit() else re.escape(run) for run in re.findall(r"\d+|\D+", document))
