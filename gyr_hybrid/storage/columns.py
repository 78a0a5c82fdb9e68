"""Metadata by column, so that a filter is worked out once per distinct value and then looked up per row."""

from __future__ import annotations

import json
from array import array
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.storage.filters import Condition, Filter, Operator, as_decimal

Bool = NDArray[np.bool_]

MISSING = 0
"""Number of the value of a row that lacks the key."""

_KEPT_CONDITIONS = 128
_BOOLEANS = ("true", "false")


class Column:
    """The values of one metadata key: per row the number of its value."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[type, Any], int] = {(type(None), None): MISSING}
        self._values: list[Any] = [None]
        self._rows = array("i")
        self._texts_only = True
        self._tables: OrderedDict[Condition, Bool] = OrderedDict()

    def append(self, row: int, value: Any) -> None:
        """Set the value of a row beyond the last; rows between lack the key."""
        key = (type(value), json.dumps(value, sort_keys=True) if isinstance(value, (list, dict)) else value)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self._values)
            self._values.append(value)
            self._texts_only &= isinstance(value, (str, list))
        if row > len(self._rows):
            self._rows.extend([MISSING] * (row - len(self._rows)))
        self._rows.append(number)

    def passing(self, condition: Condition, n: int) -> Bool:
        """Whether each of the first n rows passes."""
        rows = np.array(self._rows, dtype=np.int32)[:n]
        out = np.full(n, condition.accepts(None))
        wanted = self._exact(condition)
        if wanted is not None:
            out[: len(rows)] = rows == wanted[0] if len(wanted) == 1 else np.isin(rows, wanted)
        else:
            out[: len(rows)] = self._table(condition)[rows]
        return out

    def _exact(self, condition: Condition) -> list[int] | None:
        """The numbers of the only values that can pass, where a look-up finds them."""
        simple = condition.operator is Operator.IN or (
            condition.operator is Operator.EQ and not condition.is_list
        )
        if not simple or not all(
            isinstance(v, str)
            and (self._texts_only or (as_decimal(v) is None and v.casefold() not in _BOOLEANS))
            for v in condition.values
        ):
            return None
        return [self._numbers[str, v] for v in condition.values if (str, v) in self._numbers]

    def _table(self, condition: Condition) -> Bool:
        """Per distinct value whether it passes; grows with the values."""
        known = self._tables.get(condition)
        done = 0 if known is None else len(known)
        values = self._values[done:]
        if known is None or values:
            fresh = np.fromiter(map(condition.accepts, values), dtype=bool, count=len(values))
            known = fresh if known is None else np.concatenate([known, fresh])
            self._tables[condition] = known
            while len(self._tables) > _KEPT_CONDITIONS:
                self._tables.popitem(last=False)
        return known


class MetadataTable:
    """The metadata of rows, by key."""

    def __init__(self) -> None:
        self._columns: dict[str, Column] = {}

    def append(self, row: int, metadata: Mapping[str, Any]) -> None:
        """Set the metadata of a row beyond the last."""
        for key, value in metadata.items():
            if key not in self._columns:
                self._columns[key] = Column()
            self._columns[key].append(row, value)

    def passing(self, condition: Condition, n: int) -> Bool:
        """Whether each of the first n rows passes."""
        column = self._columns.get(condition.key)
        return np.full(n, condition.accepts(None)) if column is None else column.passing(condition, n)


def evaluate(filters: Filter, n: int, leaf: Callable[[Condition], Bool]) -> Bool:
    """Put together what the conditions of a filter say about n rows."""
    if isinstance(filters, Condition):
        return leaf(filters)
    parts = [evaluate(part, n, leaf) for part in filters.parts]
    if filters.join == "and":
        passing: Bool = np.logical_and.reduce([np.ones(n, dtype=bool), *parts])
        return passing
    found: Bool = np.logical_or.reduce([np.zeros(n, dtype=bool), *parts])
    return found if filters.join == "or" else ~found
