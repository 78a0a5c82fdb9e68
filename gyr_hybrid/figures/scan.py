"""One figure, and the scan of a text in which the readers of each form claim their spans."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gyr_hybrid.figures.around import bound_of, rates_of, side_of
from gyr_hybrid.figures.grammar import even_fold

_RATED = ("money", "count", "number", "size", "percent", "points", "duration")
_NONE: frozenset[str] = frozenset()
FigureValue = Fraction | str | tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure, date or code at a place of a text."""

    kind: str
    """``number``, ``count``, ``money``, ``duration``, ``percent``, ``date``, ``clock``, ``ordinal``, ``code`` …"""
    value: FigureValue
    """Base units as a fraction; ``(year, month, day)`` with None for what is not said; folded key of a code."""
    base: str = ""
    """Base unit (``second``, ``month``, ``workday``, ``CNY``, ``percent``, ``person`` …) or empty."""
    bound: str = ""
    """``<=``, ``<``, ``>=``, ``>``, ``~`` as the words around say, or empty."""
    per: str = ""
    """What a rate counts by (``month`` in ``39 元/月``), or empty."""
    also: frozenset[str] = frozenset()
    """Everything the words before count by, ``per`` among them: ``每个 key 每分钟 600 次``."""
    side: str = ""
    """``before`` or ``after`` (``到期前 3 天``), or empty."""
    low: bool = False
    """The lower end of a range such as ``1-3 个工作日``."""
    high: bool = False
    """Its upper end."""
    weak: bool = False
    """An article-like ``一`` or ``one``, which asserts no number; a code that only a range of the source names."""
    start: int = 0
    end: int = 0
    text: str = ""


class Scan:
    """One pass over a folded text; spans once claimed by a form are closed to the later ones."""

    def __init__(self, raw: str) -> None:
        self.raw = raw
        self.text = even_fold(raw)
        self.free = bytearray(b"\x01" * len(raw))
        self.found: list[Figure] = []

    def open(self, start: int, end: int) -> bool:
        """Whether no form has claimed any of the span."""
        return start < end and self.free.find(0, start, end) < 0

    def claim(self, start: int, end: int) -> None:
        """Close a span to the later forms."""
        self.free[start:end] = bytes(end - start)

    def add(self, figure: Figure) -> None:
        """Keep a figure with its limit, rate and side, and close its span."""
        start, end = figure.start, figure.end
        per, also, whole = rates_of(self.text, start, end) if figure.kind in _RATED else ("", _NONE, end)
        limit = "" if figure.kind in ("code", "ordinal") else bound_of(self.text, start, whole)
        bound = limit or figure.bound
        side = side_of(self.text, start, end) if figure.kind in ("duration", "date", "clock") else ""
        weak = figure.weak and not (bound or per)
        ends, per = (figure.low, figure.high, weak, start, whole, self.raw[start:whole]), figure.per or per
        self.found.append(Figure(figure.kind, figure.value, figure.base, bound, per, also, side, *ends))
        self.claim(start, whole)
