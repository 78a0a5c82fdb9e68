"""Write citations by a template and read every form in which models write them back.

Only what names a section of the context in an unambiguous way becomes a citation; everything else that looks like
one is taken out of the text.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gyr_hybrid.answering.context.labels import DEFAULT_FORMAT, Source

_DASHES = re.compile(r"[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]")
_GROUP = re.compile(
    r"\[{1,2}[^\[\]\n]{1,300}\]{1,2}(?:\(https?://[^)\s]*\))?|【[^【】\n]{1,300}】|［[^［］\n]{1,300}］"
    r"|〔[^〔〕\n]{1,300}〕|\([^()\n]{1,300}\)|（[^（）\n]{1,300}）"
)
_PARENTHESES = "(（"
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
_SPLIT = re.compile(r"\s*[,，;；、|&]\s*|\s+(?:and|和|与)\s+")
_QUOTE = re.compile(r"\s*<(quote|q)>(.*?)(?:</\1>|$)", re.IGNORECASE | re.DOTALL)
_INLINE = re.compile(r"(?:根据|依据|按照|参见|详见|according to|per)\s*$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reference:
    """One id that the model wrote."""

    raw: str
    node_id: str | None
    """The section of the context that it means, None when it means none."""
    exact: bool
    """False when it was repaired."""


@dataclass(frozen=True, slots=True)
class Parsed:
    """A unit of an answer without its citations."""

    text: str
    references: tuple[Reference, ...]
    quotes: tuple[str, ...]
    """Words of the source that the model gave as its evidence."""

    @property
    def cited(self) -> tuple[str, ...]:
        """Node ids in order, each once."""
        return tuple(dict.fromkeys(r.node_id for r in self.references if r.node_id is not None))


def _key(text: str) -> str:
    """What is left when case, width, dashes and blanks do not count."""
    return "".join(_DASHES.sub("-", unicodedata.normalize("NFKC", text)).casefold().split())


class CitationParser:
    """Reads citations of the given sources.

    >>> parser = CitationParser([Source("kb-002#4", "kb-002", 4, "[kb-002#4]")])
    >>> parsed = parser.parse("支付宝 1-3 个工作日到账【kb-002#4#1】。")
    >>> parsed.text, parsed.cited
    ('支付宝 1-3 个工作日到账。', ('kb-002#4',))
    """

    def __init__(self, sources: Sequence[Source], template: str = DEFAULT_FORMAT) -> None:
        self._sources = tuple(sources)
        self._exact: dict[str, str | None] = {}
        for source in sources:
            for text in (source.label, source.label.strip("[]【】()（）<>{}"), source.node_id):
                key = _key(text)
                known = self._exact.setdefault(key, source.node_id)
                if known != source.node_id:
                    self._exact[key] = None
        self._documents: dict[str, list[Source]] = {}
        for source in sources:
            self._documents.setdefault(_key(source.doc_id), []).append(source)
        literals = [text for text, *_ in string.Formatter().parse(template)]
        self._marks = tuple(m for m in (_key(t).strip("[]【】()") for t in literals) if len(m) > 2)
        self._shapes = tuple({_shape(d) for d in self._documents if re.search(r"\d", d)})
        self._bare = self._bare_pattern()

    def _bare_pattern(self) -> re.Pattern[str] | None:
        """Labels and section ids that stand in the text without brackets."""
        inner = {s.label.strip("[]【】") for s in self._sources}
        texts = {s.label for s in self._sources} | {t for t in inner if "#" in t}
        texts |= {s.node_id for s in self._sources if "#" in s.node_id}
        ids = "|".join(re.escape(t) for t in sorted(texts, key=len, reverse=True))
        docs = "|".join(
            re.escape(d) for d in sorted({s.doc_id for s in self._sources}, key=len, reverse=True) if d
        )
        tail = r"(?:[#.]\d+)*"
        parts = [
            p
            for p in (
                f"(?:{ids}){tail}" if ids else "",
                rf"(?:{docs})(?:@[^\s#]+)?#\d+{tail}" if docs else "",
            )
            if p
        ]
        return re.compile(rf"(?<![A-Za-z0-9])(?:{'|'.join(parts)})", re.IGNORECASE) if parts else None

    def is_citation(self, group: str) -> bool:
        """Whether a bracket group, brackets included, cites something, be it known or not."""
        match = _GROUP.fullmatch(group.strip())
        return match is not None and self._read_group(match.group()) is not None

    def find(self, text: str) -> list[tuple[int, int, tuple[Reference, ...]]]:
        """Spans of all citations in ``text``, in order and without overlap."""
        found: list[tuple[int, int, tuple[Reference, ...]]] = []
        for match in _GROUP.finditer(text):
            references = self._read_group(match.group())
            if references is not None:
                found.append((match.start(), match.end(), references))
        if self._bare is not None:
            for match in self._bare.finditer(text):
                if not any(start < match.end() and match.start() < end for start, end, _ in found):
                    found.append((match.start(), match.end(), (self._resolve(match.group()),)))
        return sorted(found)

    def parse(self, raw: str) -> Parsed:
        """Take citations and quotes out of a unit."""
        quotes: list[str] = []

        def keep(match: re.Match[str]) -> str:
            if quote := match.group(2).strip().strip('「」“”"'):
                quotes.append(quote)
            return ""

        text = _QUOTE.sub(keep, raw)
        references: list[Reference] = []
        pieces: list[str] = []
        at = 0
        for start, end, found in self.find(text):
            references.extend(found)
            before = text[at:start]
            pieces.append(before)
            at = end
        pieces.append(text[at:])
        return Parsed(_join(pieces), tuple(references), tuple(quotes))

    def strip(self, text: str) -> str:
        """``text`` without anything that reads as a citation."""
        return self.parse(text).text

    def _read_group(self, group: str) -> tuple[Reference, ...] | None:
        link = group.rfind("](http")
        inner = (group[: link + 1] if link > 0 else group).strip()
        inner = inner.strip("[]【】［］〔〕") if inner[0] not in _PARENTHESES else inner[1:-1]
        inner = inner.strip()
        if not inner:
            return None
        whole = self._resolve(inner)
        if whole.node_id is not None:
            if group[0] in _PARENTHESES and _key(inner).isdigit():
                return None
            return (whole,)
        tokens = [t for t in _SPLIT.split(inner) if t]
        if len(tokens) == 1 and " " in inner:
            parts = inner.split()
            if all(self._resolve(t).node_id for t in parts):
                tokens = parts
        references = tuple(self._resolve(token) for token in tokens)
        if group[0] in _PARENTHESES:
            plain = all(_key(token).isdigit() for token in tokens)
            return (
                references
                if not plain and all(self._looks_cited(t, r) for t, r in zip(tokens, references, strict=True))
                else None
            )
        if all(self._looks_cited(t, r) for t, r in zip(tokens, references, strict=True)):
            return references
        return None

    def _looks_cited(self, token: str, reference: Reference) -> bool:
        if reference.node_id is not None:
            return True
        key = _key(token)
        bare = _PREFIX.sub("", token.strip())
        bare_key = _key(bare)
        if bare != token.strip() and (not bare or re.fullmatch(r"[\w.#@/\-:]*\d[\w.#@/\-:]*", bare_key)):
            return True
        if re.fullmatch(r"\^?\d{1,3}", key) or re.fullmatch(r"[^\s#]+#[^\s#]+(?:#\S+)*", key):
            return True
        if any(mark in key for mark in self._marks):
            return True
        return any(re.fullmatch(shape, bare_key) for shape in self._shapes)

    def _resolve(self, token: str) -> Reference:
        raw = token.strip()
        if (node_id := self._exact.get(_key(raw))) is not None:
            return Reference(raw, node_id, True)
        bare = _PREFIX.sub("", raw)
        for text in (raw, bare):
            key = _key(text)
            if (node_id := self._exact.get(key)) is not None:
                return Reference(raw, node_id, False)
            if (node_id := self._by_document(key)) is not None:
                return Reference(raw, node_id, False)
        if _NUMBER.fullmatch(_key(bare)) and 1 <= int(_key(bare)) <= len(self._sources):
            return Reference(raw, self._sources[int(_key(bare)) - 1].node_id, False)
        return Reference(raw, None, False)

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
                sections = [s for s in sections if _key(s.node_id).startswith(f"{document}@{version[1]}#")]
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


def _join(pieces: Iterable[str]) -> str:
    """Put text back together where citations were taken out."""
    text = ""
    for piece in pieces:
        if not text:
            text = piece
            continue
        left, right = text.rstrip(), piece
        if _INLINE.search(left):
            text = _INLINE.sub("", left) + right.lstrip(" ，,：:")
        elif right.lstrip()[:1] in tuple("。．.，,；;！!？?、：:|)）") or not right.strip():
            right = right.lstrip() if not right.startswith(("\n", " |")) else right
            if left and right and left[-1] in "。！？!?；;.…" and right[0] in "。.；;，,":
                right = right[1:]
            text = left + right
        else:
            text = (
                (left + right) if text == left or "\u4e00" <= right.lstrip()[:1] <= "\u9fff" else text + right
            )
    return text.strip()
