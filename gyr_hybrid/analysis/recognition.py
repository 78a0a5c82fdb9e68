"""Find the pieces of a text: codes by pattern first, then every run of letters and digits, cut and judged."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from gyr_hybrid.analysis.codes import compact_form
from gyr_hybrid.analysis.folding import FoldedText, fold, fold_with_offsets
from gyr_hybrid.analysis.numerals import NUMERAL, chinese_number
from gyr_hybrid.analysis.pieces import CHUNK, EVERYDAY_WORD, Piece, Strength, split_pieces
from gyr_hybrid.analysis.vocabulary import STANDARD_BODIES
from gyr_hybrid.errors import ConfigurationError

_NUMBER = rf"(?:\d{{1,5}}|[{NUMERAL}]{{1,9}})"
_ORDINAL = re.compile(
    rf"第\s?({_NUMBER})\s?([条條章节節编編])(?:之({_NUMBER}))?((?:\s?第\s?\(?{_NUMBER}\)?\s?[款项項目])*)"
)
_CITED_ARTICLE = re.compile(
    rf"(?<=[法典例则則程》])\s?({_NUMBER})\s?([条條])(?:之({_NUMBER}))?((?:\s?第\s?\(?{_NUMBER}\)?\s?[款项項目])*)"
)
_SUB_ORDINAL = re.compile(rf"第\s?\(?({_NUMBER})\)?\s?([款项項目])")
_COUNTED = re.compile(
    "消息|短信|微博|评论|留言|回复|动态|弹幕|朋友圈|新闻|建议|命令|语句|记录|日志|流水|鱼|裤|腿|街|路|河|船|毛巾|航线|跑道|生产线|弹窗"
)
_DOCUMENT_NUMBER = re.compile(
    r"([\u4e00-\u9fff]{1,8})?[〔\[(【]((?:19|20)\d\d)[〕\])】]\s?第?\s?(\d{1,5})\s?号"
    r"|(公告|令|决议|通告)\s?(?:[〔\[(【]?((?:19|20)\d\d)[〕\])】]?年?)?\s?第?\s?(\d{1,5})\s?号"
)
_ISSUER_LEAD = re.compile(
    r".*(?:根据|按照|依据|依照|关于|参照|遵照|执行|印发|下发|发布|出台|以及|文件|通知|规定|查询|请问|什么是|[和与及的在由见《、按了查问])"
)
_BODIES = "|".join(sorted(STANDARD_BODIES, key=len, reverse=True))
_STANDARD = re.compile(
    rf"((?:(?:{_BODIES}|DB\d\d|T|Q)(?:[/ ](?:IEC|IEEE|TS|TR|EN|T|Z|J|[A-Z]{{3,6}}))?|MIL-STD|ITU-T))[ -]?"
    r"([A-Z]{0,2}\d{2,6}(?:\.\d+)*(?:-\d{1,3}(?!\d))?(?:[-:](?:19|20)?\d\d)?[A-Za-z]{0,2})(?![A-Za-z0-9])"
)
_STANDARD_HEADS = frozenset(body[:2] for body in STANDARD_BODIES) | {"DB", "T/", "Q/", "MI", "IT"}
_LINK = re.compile(
    r"\]\([^()\s]*(?:\([^()\s]*\)[^()\s]*)*\)|(?:https?|ftp|file|jdbc:\w+|s3|gcs|local)://[!-~]+|\bwww\.[!-~]+|<[a-zA-Z/!][^<>\n]*>"
)
_SQLSTATE = re.compile(r"\s?\([0-9A-Z]{5}\)")


@dataclass(frozen=True, slots=True)
class Scan:
    """A text, folded, with its pieces in order and without overlap (offsets into the folded text)."""

    folded: FoldedText
    pieces: tuple[Piece, ...]


class Recognizer:
    """Cuts texts into pieces; user patterns come first."""

    def __init__(self, code_patterns: Sequence[str] = (), whole_words: Sequence[str] = ()) -> None:
        try:
            for pattern in code_patterns:
                re.compile(pattern)
            self._patterns = [re.compile(pattern, re.IGNORECASE) for pattern in code_patterns]
        except re.error as error:
            raise ConfigurationError(
                f"code pattern {pattern!r} is no regular expression: {error}; correct it in code_patterns.txt or the Analyzer"
            ) from error
        words = sorted({fold(word) for word in whole_words}, key=lambda word: (-len(word), word))
        self._words = re.compile("|".join(map(_bounded, words))) if words else None

    def scan(self, text: str) -> Scan:
        """Pieces of ``text``, special forms before plain runs."""
        folded = fold_with_offsets(text)
        taken = sorted(self._special(folded), key=lambda piece: (piece.start, -piece.end))
        pieces: list[Piece] = []
        position = 0
        for special in taken:
            if special.start < position:
                continue
            pieces += _runs(folded.text, position, special.start)
            pieces.append(special)
            position = special.end
        pieces += _runs(folded.text, position, len(folded.text))
        return Scan(folded, tuple(pieces))

    def _special(self, folded: FoldedText) -> list[Piece]:
        text = folded.text
        found: list[Piece] = []
        if "](" in text or "://" in text or "www." in text or "<" in text:
            found += [
                _special(match.start(), match.end(), match.group(), Strength.VALUE, "link")
                for match in _LINK.finditer(text)
            ]
        for pattern in self._patterns:
            found += [
                _special(match.start(), match.end(), match.group(), Strength.STRONG, "code")
                for match in pattern.finditer(text)
                if match.group().strip()
            ]
        if "条" in text or "條" in text or "第" in text:
            found += _ordinals(text)
        if "号" in text:
            found += _document_numbers(text)
        if self._words:
            found += [
                _special(match.start(), match.end(), match.group(), Strength.WORD, "word")
                for match in self._words.finditer(folded.lowered)
            ]
        return found


def _bounded(word: str) -> str:
    escaped = re.escape(word)
    left = r"(?<![a-z0-9_])" if word[0].isascii() and word[0].isalnum() else ""
    right = r"(?![a-z0-9_])" if word[-1].isascii() and word[-1].isalnum() else ""
    return f"{left}{escaped}{right}"


def _special(
    start: int, end: int, text: str, strength: Strength, kind: str, canonical: str | None = None
) -> Piece:
    key = fold(text) if canonical is None else canonical
    return Piece(start, end, text, strength, kind, key, compact_form(key), None)


def _runs(text: str, start: int, end: int) -> Iterator[Piece]:
    position = start
    while match := CHUNK.search(text, position, end):
        begin = match.start()
        if text[begin : begin + 2].upper() in _STANDARD_HEADS and (standard := _standard(text, begin, end)):
            yield standard
            position = standard.end
            continue
        position = match.end()
        pieces = split_pieces(match.group())
        for piece in pieces:
            yield Piece(
                begin + piece.start,
                begin + piece.end,
                piece.text,
                piece.strength,
                piece.kind,
                piece.canonical,
                piece.compact,
                piece.number,
            )
        if (
            pieces
            and pieces[-1].strength is Strength.NUMBER
            and (state := _SQLSTATE.match(text, position, end))
        ):
            position = state.end()


def _standard(text: str, start: int, end: int) -> Piece | None:
    match = _STANDARD.match(text, start, end) or _STANDARD.match(text[start:end].upper())
    if not match:
        return None
    begin = start if match.string is not text else match.start()
    stop = begin + len(match.group())
    body, number = match[1], match[2]
    digits = sum(character.isdigit() for character in number)
    if EVERYDAY_WORD.fullmatch(fold(match.group())) or text[max(0, begin - 2) : begin].strip().isdecimal():
        return None
    if digits < 3 and not (body.isupper() and len(body) > 2):
        return None
    if begin and (text[begin - 1].isascii() and (text[begin - 1].isalnum() or text[begin - 1] in "-_./")):
        return None
    canonical = f"{fold(body)} {fold(number)}".replace(":", "-")
    return _special(begin, stop, text[begin:stop], Strength.STRONG, "standard", canonical)


def _ordinals(text: str) -> Iterator[Piece]:
    for pattern, strength in ((_ORDINAL, Strength.STRONG), (_CITED_ARTICLE, Strength.WEAK)):
        for match in pattern.finditer(text):
            number = chinese_number(match[1])
            if number is None:
                continue
            unit = {"條": "条", "節": "节", "編": "编"}.get(match[2], match[2])
            if unit == "条" and not match[3] and not match[4] and _COUNTED.match(text, match.end()):
                yield _special(match.start(), match.end(), match.group(), Strength.VALUE, "word")
                continue
            canonical = f"第{number}{unit}"
            if match[3] and (branch := chinese_number(match[3])) is not None:
                canonical += f"之{branch}"
            for sub in _SUB_ORDINAL.finditer(match[4] or ""):
                if (value := chinese_number(sub[1])) is not None:
                    canonical += f"第{value}{'项' if sub[2] == '項' else sub[2]}"
            surely = strength if unit == "条" else Strength.EVERYDAY
            yield _special(match.start(), match.end(), match.group().strip(), surely, "ordinal", canonical)


def _document_numbers(text: str) -> Iterator[Piece]:
    for match in _DOCUMENT_NUMBER.finditer(text):
        start = match.start()
        if match[2]:
            issuer = match[1] or ""
            if lead := _ISSUER_LEAD.match(issuer):
                start += lead.end()
                issuer = issuer[lead.end() :]
            canonical = f"{issuer}[{match[2]}]{int(match[3])}号"
        else:
            year = f"[{match[5]}]" if match[5] else ""
            canonical = f"{match[4]}{year}{int(match[6])}号"
        yield _special(start, match.end(), text[start : match.end()], Strength.STRONG, "standard", canonical)
