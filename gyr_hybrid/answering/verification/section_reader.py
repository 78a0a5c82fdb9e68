"""Reading a source section into passages.

A clause of a document rarely says everything itself: the subject stands in the clause before, the plan in the
line's head (``企业版：…``), the column's name in a table's header, the negation in a list's lead-in
(``下列商品除外：``). Reading a section once into passages that carry these keeps every later check local.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from gyr_hybrid.answering.verification.clauses import cells_of, clauses, lines, segments, sentences
from gyr_hybrid.answering.verification.passages import Passage, Section
from gyr_hybrid.figures import even_fold, find_figures, source_figures

_HEAD = re.compile(r"(?:\*\*)?([^:：,，。；;.!?]{1,40}?)(?:\*\*)?\s*(?:(?<!\d):|:(?!\d))(?:\*\*)?\s*")
"""What a line is about, before its colon: ``企业版``, ``Emergency room``, a parameter's name."""

_ITEM = re.compile(
    r"[ \t>]*(?:[-*+•·]\s+|\d{1,3}[.)、]\s*(?!\d)|[(（](?:[一二三四五六七八九十]{1,3}|\d{1,2})[)）]\s*|[①-⑳]\s*|[一二三四五六七八九十]{1,3}、)"
)
_RULE_ROW = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
_EXCEPT = re.compile(
    r"(?:除外|例外)\s*[:：]?\s*$|\bexcept(?:\s+for)?(?:\s+the\s+following)?\s*:\s*$", re.IGNORECASE
)

_ANAPHORIC = re.compile(
    r"\s*(?:其(?![他它中余实])|它们?|该|此(?![外时处前后])|默认|缺省|取值|可选值|(?:it|its|they|their|this|these|(?:the )?defaults?)\b)"
)
"""A sentence or segment that begins so speaks of what the one before it spoke of."""
_QUESTION = re.compile(r".*[?？]\s*$", re.DOTALL)
_ANSWER = re.compile(r"\s*(?:\*\*)?(?:[回解]?答案?|a|answer)\s?\d*\s*[:：.]")
_NO = re.compile(
    r"[\s—\-*]*(?:(?:[回解]?答案?|a|answer)\s?\d*\s*[:：.]\s*)?(?:不(?![仅但过同到足少低多超大小高晚早满])|否(?!则)|没有|无法|no\b(?! (?:more|less|later|fewer|earlier))|not\b(?! (?:only|more|less|later)))"
)
_ASKING = re.compile(r"(?:问题?|[回解]?答案?|[qa]|question|answer)\s?\d*")

CARRIED = 8
"""Most clauses of its segment that a clause inherits from."""
_ELLIPTIC = re.compile(
    r"\s*(?:但是?|然而|不过)?[,，]?\s*(?:已|未)?(?:满|不满|不足|超过|不超过|不得超过|不得少于|不少于|低于|高于|大于|小于|达到|超出|逾|over|above|under|below|more|less|after|\d)"
)
"""A segment that begins with a limit or a figure speaks of what the sentence began with."""


@lru_cache(maxsize=512)
def read_section(text: str, headings: tuple[str, ...] = (), table_header: str = "") -> Section:
    """Read one section; ``headings`` is its path with the title, ``table_header`` the header row of a table piece."""
    reader = _Reader(text)
    reader.read(table_header)
    heading = "\n".join(even_fold(h) for h in (*headings, table_header) if h)
    return Section(
        text,
        reader.folded,
        heading,
        source_figures(heading),
        tuple(reader.passages),
        source_figures(text),
        tuple(reader.sentences),
        tuple(tuple(dict.fromkeys(heads)) for heads in reader.enumerations if len(set(heads)) > 1),
    )


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.blocks = list(lines(text))
        folded = even_fold(text)
        for start, end in self.blocks:  # a line of prose that merely wraps goes on
            if "\n" in text[start:end]:
                folded = folded[:start] + folded[start:end].replace("\n", " ") + folded[end:]
        self.folded = folded
        self.passages: list[Passage] = []
        self.sentences: list[tuple[int, int]] = []
        self.enumerations: list[list[str]] = []
        self.segments = 0
        self.lead = ""
        self.lead_span: tuple[int, int] | None = None
        self.excepting = False
        self.question: tuple[int, int] | None = None

    def read(self, table_header: str) -> None:
        header = cells_of(even_fold(table_header), 0) if table_header else []
        rows = self.blocks
        for number, (start, end) in enumerate(rows):
            line = self.text[start:end]
            if not line.strip():
                continue
            if line.lstrip().startswith("|"):
                following = self.text[slice(*rows[number + 1])] if number + 1 < len(rows) else ""
                if _RULE_ROW.match(line):
                    continue
                cells = cells_of(self.folded[start:end], start)
                if _RULE_ROW.match(following):
                    header = cells
                    self.enumerations += [[h[1] for h in header[1:]], []]
                    continue
                self.row(start, end, cells, header)
                continue
            if line.startswith("#"):
                header, self.lead, self.lead_span, self.excepting = [], "", None, False
                continue
            self.line(start, end)

    def row(self, start: int, end: int, cells: list[tuple[int, str]], header: list[tuple[int, str]]) -> None:
        if not cells:
            return
        self.sentences.append((start, end))
        label = cells[0][1]
        if not self.enumerations:
            self.enumerations.append([])
        self.enumerations[-1].append(label)
        names = [h[1] for h in header]
        for column, (place, cell) in enumerate(cells):
            name = names[column] if column < len(names) else ""
            if column == 0 and len(cells) > 1:
                continue
            label_name = names[0] if names and column else ""
            head = "\n".join(h for h in (label_name, label if column else "", name) if h)
            self.segments += 1
            self.clauses(place, place + len(cell), head=head, carried="", sentence=len(self.sentences) - 1)

    def line(self, start: int, end: int) -> None:
        marker = _ITEM.match(self.text, start, end)
        item = marker is not None
        if marker:
            start = marker.end()
        if not item:
            self.lead, self.lead_span, self.excepting = "", None, False
            self.enumerations.append([])
        folded = self.folded
        head = _head(folded, start, end) if item or end - start < 400 else ""
        body = start
        if head:
            body = start + len(head[0])
            if not self.enumerations:
                self.enumerations.append([])
            self.enumerations[-1].append(head[1])
        is_lead = folded[start:end].rstrip().endswith(":") or folded[start:end].rstrip().endswith("：")
        if not _ANSWER.match(folded, start, end):
            self.question = None
        before: tuple[int, int] | None = None
        for sentence_start, sentence_end in sentences(self.text, body, end):
            self.sentences.append((start if sentence_start == body else sentence_start, sentence_end))
            number = len(self.sentences) - 1
            if _QUESTION.match(folded, sentence_start, sentence_end):
                self.question, before = (sentence_start, sentence_end), None
                continue  # it asserts nothing
            inline = topic = ""
            told = self.question
            refused = told is not None and bool(_NO.match(folded, sentence_start, sentence_end))
            if before and _ANAPHORIC.match(folded, sentence_start, sentence_end):
                told = before
            asked = folded[slice(*told)] if told and told == self.question else ""
            leading = folded[slice(*told)] if told else ""
            for segment_start, segment_end in segments(folded, sentence_start, sentence_end):
                self.segments += 1
                colon = _lead_colon(folded, segment_start, segment_end)
                body_text = folded[segment_start:segment_end]
                shared = topic if _ELLIPTIC.match(body_text) or _ANAPHORIC.match(body_text) else ""
                carried = "\n".join(p for p in (self.lead, leading, inline, shared) if p)
                topic = topic or _topic(body_text)
                self.clauses(
                    segment_start,
                    segment_end,
                    head=head[1] if head else "",
                    carried=carried,
                    sentence=number,
                    lead=told or self.lead_span,
                    refused=refused,
                    asked=asked,
                )
                if refused:
                    refused, leading, self.question = False, "", None
                if colon and segment_end != sentence_end:
                    inline = folded[segment_start:colon]
                    if _EXCEPT.search(folded[segment_start : colon + 1]):
                        self.excepting = True
            before = (sentence_start, _first_clause(folded, sentence_start, sentence_end))
            if not item and not is_lead:
                self.excepting = False
        if is_lead and not item:
            self.lead = folded[start:end].strip()
            self.lead_span = self.sentences[-1] if self.sentences else None
            self.excepting = bool(_EXCEPT.search(self.text[start:end]))

    def clauses(
        self,
        start: int,
        end: int,
        *,
        head: str,
        carried: str,
        sentence: int,
        lead: tuple[int, int] | None = None,
        refused: bool = False,
        asked: str = "",
    ) -> None:
        """Passages of one segment; ``refused`` when it begins by denying the question that it carries."""
        earlier, told = carried, list[str]()
        for clause_start, clause_end in clauses(self.folded, start, end):
            text = self.folded[clause_start:clause_end]
            if not re.search(r"\w", text):
                continue
            passage = Passage(
                clause_start,
                clause_end,
                text,
                head,
                earlier,
                sentence,
                self.segments,
                self.excepting or refused,
                lead,
                asked,
            )
            self.passages.append(
                replace(passage, figures=source_figures(passage.own), carried_figures=source_figures(earlier))
            )
            told = [*told[-CARRIED:], text]
            earlier = "\n".join([*([carried] if carried and not refused else []), *told])
            refused = False  # only the first clause answers with the denial


def _head(folded: str, start: int, end: int) -> tuple[str, str] | None:
    found = _HEAD.match(folded, start, end)
    if not found or not folded[found.end() : end].strip() or _ASKING.fullmatch(found[1].strip("*` ")):
        return None
    return found.group(), found[1].strip("*` ")


def _first_clause(folded: str, start: int, end: int) -> int:
    """Where the first clause of a sentence ends."""
    first = next(iter(clauses(folded, start, end)), (start, end))
    return first[1]


def _lead_colon(folded: str, start: int, end: int) -> int | None:
    found = re.compile(r"(?:(?<!\d):|:(?!\d))\s*(?=\S)").search(folded, start, end)
    return found.start() if found and found.end() < end else None


def _topic(segment: str) -> str:
    """What the first segment of a sentence speaks of: its words before the first figure, or its first clause."""
    first = next((f for f in find_figures(segment) if not f.weak), None)
    return segment[: first.start] if first else re.split(r"[,，]", segment)[0]
