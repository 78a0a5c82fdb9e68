"""Metadata filters: LlamaIndex's ``MetadataFilters`` as a small tree that means one thing in every engine.

``docs/filters.md`` states the semantics. A filter never becomes text of a query language.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from enum import Enum, StrEnum
from typing import Any, TypeAlias

from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from gyr_hybrid.errors import FilterError

Scalar: TypeAlias = str | int | float
_PLAIN_DECIMAL = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")


class Operator(StrEnum):
    """The operators of LlamaIndex's ``FilterOperator`` that have a meaning here."""

    EQ = "=="
    NE = "!="
    GT = ">"
    GTE = ">="
    LT = "<"
    LTE = "<="
    IN = "in"
    NIN = "nin"
    ANY = "any"
    ALL = "all"
    CONTAINS = "contains"
    TEXT_MATCH = "text_match"
    TEXT_MATCH_INSENSITIVE = "text_match_insensitive"
    IS_EMPTY = "is_empty"


_LISTS = {Operator.IN, Operator.NIN, Operator.ANY, Operator.ALL}
_ORDER: dict[Operator, Callable[[int], bool]] = {
    Operator.GT: lambda sign: sign > 0,
    Operator.GTE: lambda sign: sign >= 0,
    Operator.LT: lambda sign: sign < 0,
    Operator.LTE: lambda sign: sign <= 0,
}


@dataclass(frozen=True, slots=True)
class Condition:
    """One key, one operator, its values."""

    key: str
    operator: Operator
    values: tuple[Scalar, ...]
    """One value, or those of a list; none for IS_EMPTY."""
    is_list: bool = False
    """Whether the value given was a list."""

    def accepts(self, value: Any) -> bool:
        """Whether a metadata value passes; None is a missing key."""
        if self.operator is Operator.IS_EMPTY:
            return value is None or value == "" or (isinstance(value, (list, tuple)) and not value)
        if value is None:
            return False
        return _accepts(self, value)

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a node with this metadata passes."""
        return self.accepts(metadata.get(self.key))

    def conditions(self) -> Iterator[Condition]:
        yield self


@dataclass(frozen=True, slots=True)
class Group:
    """Filters joined by ``and`` (all pass), ``or`` (one passes) or ``not`` (none passes)."""

    join: str
    parts: tuple[Condition | Group, ...]

    def matches(self, metadata: Mapping[str, Any]) -> bool:
        """Whether a node with this metadata passes."""
        if self.join == "and":
            return all(part.matches(metadata) for part in self.parts)
        found = any(part.matches(metadata) for part in self.parts)
        return found if self.join == "or" else not found

    def conditions(self) -> Iterator[Condition]:
        """Every condition of the tree, in order."""
        for part in self.parts:
            yield from part.conditions()


Filter: TypeAlias = Condition | Group
"""A compiled filter: frozen and hashable, with ``matches(metadata)``."""


def compile_filters(filters: MetadataFilters | MetadataFilter | None) -> Filter | None:
    """Check a LlamaIndex filter once and make it a ``Filter``; None stays None.

    >>> from llama_index.core.vector_stores import MetadataFilter, MetadataFilters
    >>> compiled = compile_filters(MetadataFilters(filters=[MetadataFilter(key="year", value=2023)]))
    >>> compiled.matches({"year": "2023"}), compiled.matches({})
    (True, False)

    Raises:
        FilterError: an unknown operator or condition, or a value that its operator cannot take.
    """
    if filters is None:
        return None
    if isinstance(filters, MetadataFilters):
        join = "and" if filters.condition is None else _text(filters.condition)
        if join not in ("and", "or", "not"):
            raise FilterError(f"filter condition {join!r} is unknown; use 'and', 'or' or 'not'")
        parts = tuple(part for part in map(compile_filters, filters.filters) if part is not None)
        return Group(join, parts)
    if isinstance(filters, MetadataFilter):
        return _condition(filters)
    raise FilterError(f"filters={filters!r} is a {type(filters).__name__}; pass LlamaIndex MetadataFilters")


def all_filters(*filters: Filter | None) -> Filter | None:
    """The filter that passes what every given one passes; None when there is none."""
    parts = tuple(part for part in filters if part is not None)
    return parts[0] if len(parts) == 1 else Group("and", parts) if parts else None


def names_key(filters: Filter | None, key: str) -> bool:
    """Whether any condition of the filter is about the key."""
    return filters is not None and any(condition.key == key for condition in filters.conditions())


def parse_day(value: str | date | datetime | None) -> date:
    """A day from a ``date``, a ``datetime`` (its day as written) or ISO text; None is today.

    >>> parse_day("2026-10-01T09:30:00+08:00")
    datetime.date(2026, 10, 1)

    Raises:
        FilterError: it is none of these.
    """
    if value is None:
        return date.today()
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value.strip()).date()
        except ValueError:
            pass
    raise FilterError(f"{value!r} is no day; write it as ISO text, for instance '2026-10-01'")


def as_decimal(value: Any) -> Decimal | None:
    """The number that a value is, or is written as: plain decimals without leading zeros; else None."""
    if isinstance(value, str):
        return Decimal(value) if _PLAIN_DECIMAL.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        return None
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def as_text(value: Any) -> str:
    """How a scalar metadata value reads: ``true`` for True, ISO for dates."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value.isoformat() if isinstance(value, date) else str(value)


def _condition(given: MetadataFilter) -> Condition:
    try:
        operator = Operator(_text(given.operator))
    except ValueError:
        known = ", ".join(sorted(member.value for member in Operator))
        raise FilterError(
            f"filter on {given.key!r}: operator {_text(given.operator)!r} is unknown; use one of {known}"
        ) from None
    if not isinstance(given.key, str):
        raise FilterError(f"filter key {given.key!r} is no text; name a metadata key")
    if operator is Operator.IS_EMPTY:
        return Condition(given.key, operator, ())
    is_list = isinstance(given.value, (list, tuple, set, frozenset))
    values: tuple[Any, ...] = tuple(given.value) if is_list else (given.value,)  # type: ignore[arg-type]
    for value in values:
        if not isinstance(value, (str, int, float)) or (
            isinstance(value, float) and not math.isfinite(value)
        ):
            hint = (
                "; use IS_EMPTY to find rows without the key" if value is None else "; use text or a number"
            )
            raise FilterError(f"filter on {given.key!r}: value {value!r} cannot be compared{hint}")
    if is_list and operator not in _LISTS and operator not in (Operator.EQ, Operator.NE):
        hint = "ANY or ALL" if operator is Operator.CONTAINS else "one value"
        raise FilterError(
            f"filter on {given.key!r}: {operator.name} takes one value, not {given.value!r}; use {hint}"
        )
    return Condition(given.key, operator, values, is_list)


def _accepts(condition: Condition, value: Any) -> bool:
    operator, values = condition.operator, condition.values
    elements = list(value) if isinstance(value, (list, tuple)) else [value]
    scalar = not isinstance(value, (list, tuple))
    match operator:
        case Operator.EQ | Operator.NE:
            if condition.is_list:
                same = not scalar and len(elements) == len(values) and all(map(_equal, elements, values))
            else:
                same = scalar and _equal(value, values[0])
            return same is (operator is Operator.EQ)
        case Operator.IN | Operator.NIN:
            found = scalar and any(_equal(value, wanted) for wanted in values)
            return found is (operator is Operator.IN)
        case Operator.ANY:
            return any(_equal(element, wanted) for wanted in values for element in elements)
        case Operator.ALL | Operator.CONTAINS:
            return all(any(_equal(element, wanted) for element in elements) for wanted in values)
        case Operator.TEXT_MATCH:
            return any(as_text(values[0]) in as_text(element) for element in elements)
        case Operator.TEXT_MATCH_INSENSITIVE:
            return any(as_text(values[0]).casefold() in as_text(element).casefold() for element in elements)
        case _:
            sign = _compare(value, values[0]) if scalar else None
            return sign is not None and _ORDER[operator](sign)


def _equal(stored: Any, wanted: Scalar) -> bool:
    """Text equals text; a number equals a number or text that is written as that number."""
    if isinstance(stored, bool) or isinstance(wanted, bool):
        return as_text(stored).casefold() == as_text(wanted).casefold()
    if isinstance(stored, str) and isinstance(wanted, str):
        return stored == wanted
    if isinstance(stored, date):
        return as_text(stored) == wanted
    left, right = as_decimal(stored), as_decimal(wanted)
    return left is not None and left == right


def _compare(stored: Any, wanted: Scalar) -> int | None:
    """-1, 0, 1; numbers by value, texts by code point; None when one is a number and the other cannot be."""
    left, right = as_decimal(stored), as_decimal(wanted)
    if left is not None and right is not None:
        return (left > right) - (left < right)
    if isinstance(stored, (bool, int, float)) or isinstance(wanted, (bool, int, float)):
        return None
    a, b = as_text(stored), wanted
    return (a > b) - (a < b)


def _text(value: Any) -> str:
    return str(value.value) if isinstance(value, Enum) else str(value)
