"""Write citations by a template and read every form in which models write them back.

Only what names a section of the context in an unambiguous way becomes a citation; everything else that looks like
one is taken out of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from gyr_hybrid.answering.context.labels import DEFAULT_FORMAT, Source
from gyr_hybrid.answering.context.references import Reference, SectionResolver, key_of

_GROUP = re.compile(
    r"\[{1,2}[^\[\]\n]{1,300}\]{1,2}(?:\(https?://[^)\s]*\))?|【[^【】\n]{1,300}】|［[^［］\n]{1,300}］"
    r"|〔[^〔〕\n]{1,300}〕|\([^()\n]{1,300}\)|（[^（）\n]{1,300}）"
)
_PARENTHESES = "(（"
_SPLIT = re.compile(r"\s*[,，;；、|&]\s*|\s+(?:and|和|与)\s+")
_QUOTE = re.compile(r"\s*<(quote|q)>(.*?)(?:</\1>|$)", re.IGNORECASE | re.DOTALL)
_INLINE = re.compile(r"(?:根据|依据|按照|参见|详见|according to|per)\s*$", re.IGNORECASE)


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


class CitationParser:
    """Reads citations of the given sources.

    >>> parser = CitationParser([Source("kb-002#4", "kb-002", 4, "[kb-002#4]")])
    >>> parsed = parser.parse("支付宝 1-3 个工作日到账【kb-002#4#1】。")
    >>> parsed.text, parsed.cited
    ('支付宝 1-3 个工作日到账。', ('kb-002#4',))
    """

    def __init__(self, sources: Sequence[Source], template: str = DEFAULT_FORMAT) -> None:
        self._sources = tuple(sources)
        self._sections = SectionResolver(sources, template)
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
                    found.append((match.start(), match.end(), (self._sections.resolve(match.group()),)))
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
        whole = self._sections.resolve(inner)
        if whole.node_id is not None:
            if group[0] in _PARENTHESES and key_of(inner).isdigit():
                return None
            return (whole,)
        tokens = [t for t in _SPLIT.split(inner) if t]
        if len(tokens) == 1 and " " in inner:
            parts = inner.split()
            if all(self._sections.resolve(t).node_id for t in parts):
                tokens = parts
        references = tuple(self._sections.resolve(token) for token in tokens)
        if group[0] in _PARENTHESES:
            plain = all(key_of(token).isdigit() for token in tokens)
            return (
                references
                if not plain
                and all(self._sections.looks_cited(t, r) for t, r in zip(tokens, references, strict=True))
                else None
            )
        if all(self._sections.looks_cited(t, r) for t, r in zip(tokens, references, strict=True)):
            return references
        return None


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
