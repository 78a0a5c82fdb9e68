"""Which documents a scope may see: tenant, acl, days of validity, and one version per doc id."""

from __future__ import annotations

import bisect
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gyr_hybrid.errors import DocumentError, FilterError
from gyr_hybrid.storage.filters import as_text, parse_day
from gyr_hybrid.storage.growing import GrowingArray

Bool = NDArray[np.bool_]

_ALWAYS = 0
_NEVER_ENDS = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Rules:
    """What a document's metadata says about who sees it and when."""

    version: str = ""
    """Empty for none."""
    tenant: str | None = None
    """None: everybody's."""
    acl: tuple[str, ...] | None = None
    """None: not restricted; empty: nobody."""
    valid_from: date | None = None
    valid_to: date | None = None
    """The first day on which it is no longer valid."""
    updated_at: str = ""

    @classmethod
    def of(cls, doc_id: str, metadata: Mapping[str, Any]) -> Rules:
        """Read a document's metadata.

        Raises:
            DocumentError: a bound of validity is no day.
        """
        acl = metadata.get("acl")
        version = metadata.get("version")
        tenant = metadata.get("tenant")
        updated = metadata.get("updated_at")
        return cls(
            version="" if version is None else str(version),
            tenant=None if tenant is None else as_text(tenant),
            acl=None if acl is None else _principals(acl),
            valid_from=_day(doc_id, metadata, "valid_from"),
            valid_to=_day(doc_id, metadata, "valid_to"),
            updated_at="" if updated is None else as_text(updated),
        )

    @classmethod
    def from_columns(
        cls,
        version: str,
        tenant: str | None,
        acl: str | None,
        valid_from: str | None,
        valid_to: str | None,
        updated_at: str,
    ) -> Rules:
        """The inverse of ``columns``."""
        return cls(
            version,
            tenant,
            None if acl is None else tuple(json.loads(acl)),
            None if valid_from is None else date.fromisoformat(valid_from),
            None if valid_to is None else date.fromisoformat(valid_to),
            updated_at,
        )

    @property
    def columns(self) -> tuple[str | None, ...]:
        """As text: version, tenant, acl (a JSON list), valid_from, valid_to, updated_at."""
        return (
            self.version,
            self.tenant,
            None if self.acl is None else json.dumps(self.acl),
            None if self.valid_from is None else self.valid_from.isoformat(),
            None if self.valid_to is None else self.valid_to.isoformat(),
            self.updated_at,
        )

    @property
    def rank(self) -> tuple[Any, ...]:
        """Orders the versions of a doc id: the one seen is the last of those that may be."""
        return self.valid_from or date.min, _moment(self.updated_at), natural_order(self.version)

    def may_see(self, tenant: str | None, principals: frozenset[str] | None) -> bool:
        """Whether tenant and principals may see the document; None is not checked."""
        if tenant is not None and self.tenant not in (None, tenant):
            return False
        return principals is None or self.acl is None or not principals.isdisjoint(self.acl)

    def is_valid(self, day: date) -> bool:
        """Whether the document is valid on that day."""
        return (self.valid_from is None or self.valid_from <= day) and (
            self.valid_to is None or day < self.valid_to
        )


def natural_order(version: str) -> tuple[tuple[int, int, str], ...]:
    """A key that sorts ``1.9`` before ``1.10``.

    >>> sorted(["v10", "v9", ""], key=natural_order)
    ['', 'v9', 'v10']
    """
    parts = re.split(r"(\d+)", version)
    return tuple((0, int(part), "") if part.isdecimal() else (1, 0, part) for part in parts if part)


@dataclass(frozen=True, slots=True)
class RuleArrays:
    """The rules of the documents of one commit, one entry per row."""

    valid_from: NDArray[np.int32]
    valid_to: NDArray[np.int32]
    """Days as ordinals."""
    tenants: NDArray[np.int32]
    acls: NDArray[np.int32]
    groups: NDArray[np.int32]
    """Number of the doc id."""
    order: NDArray[np.int32]
    """Place among the versions of the doc id; the highest that may be seen is seen."""
    rows: Sequence[Rules]
    tenant_names: Mapping[str | None, int]
    acl_names: Mapping[tuple[str, ...] | None, int]

    def allowed(self, alive: Bool, *, tenant: str | None, principals: frozenset[str] | None) -> Bool:
        """Which live documents tenant and principals may see on any day; None is not checked."""
        allowed = alive.copy()
        if tenant is not None:
            wanted = [self.tenant_names[t] for t in (None, tenant) if t in self.tenant_names]
            allowed &= np.isin(self.tenants, wanted)
        if principals is not None:
            names = list(self.acl_names.items())
            wanted = [number for acl, number in names if acl is None or not principals.isdisjoint(acl)]
            allowed &= np.isin(self.acls, wanted)
        return allowed

    def visible(self, allowed: Bool, day: date, *, one_version: bool) -> Bool:
        """Which of them are valid on the day; ``one_version`` leaves one of each doc id."""
        visible = allowed & (self.valid_from <= day.toordinal()) & (self.valid_to > day.toordinal())
        if one_version and len(visible):
            rows = np.flatnonzero(visible)
            groups, order = self.groups[rows], self.order[rows]
            if len(rows) and np.bincount(groups).max() > 1:
                last = np.full(int(groups.max()) + 1, -1, dtype=np.int32)
                np.maximum.at(last, groups, order)
                visible[rows[order < last[groups]]] = False
        return visible


class DocumentRules:
    """The rules of all documents. Rows are appended; old ``arrays`` stay as they were."""

    def __init__(self) -> None:
        self.rules: list[Rules] = []
        self._from = GrowingArray(np.int32)
        self._to = GrowingArray(np.int32)
        self._tenant = GrowingArray(np.int32)
        self._acl = GrowingArray(np.int32)
        self._group = GrowingArray(np.int32)
        self._tenants: dict[str | None, int] = {}
        self._acls: dict[tuple[str, ...] | None, int] = {}
        self._groups: dict[str, tuple[int, list[int]]] = {}
        self._order: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._touched: set[str] = set()

    def extend(self, documents: Sequence[tuple[str, Rules]]) -> None:
        """Add documents (doc id, rules) as the next rows."""
        first = len(self.rules)
        rules = [rules for _, rules in documents]
        self.rules.extend(rules)
        self._from.extend([r.valid_from.toordinal() if r.valid_from else _ALWAYS for r in rules])
        self._to.extend([r.valid_to.toordinal() if r.valid_to else _NEVER_ENDS for r in rules])
        self._tenant.extend([self._tenants.setdefault(r.tenant, len(self._tenants)) for r in rules])
        self._acl.extend([self._acls.setdefault(r.acl, len(self._acls)) for r in rules])
        groups = []
        for row, (doc_id, _) in enumerate(documents, start=first):
            number, members = self._groups.setdefault(doc_id, (len(self._groups), []))
            groups.append(number)
            if members:
                bisect.insort(members, row, key=lambda member: self.rules[member].rank)
                self._touched.add(doc_id)
            else:
                members.append(row)
        self._group.extend(groups)

    def remove(self, doc_id: str, row: int) -> None:
        """Take a row out of the choice among the versions of its doc id."""
        self._groups[doc_id][1].remove(row)

    def arrays(self) -> RuleArrays:
        """The rules as they are now."""
        order = np.zeros(len(self.rules), dtype=np.int32)
        order[: len(self._order)] = self._order
        for doc_id in self._touched:
            members = self._groups[doc_id][1]
            order[members] = np.arange(len(members), dtype=np.int32)
        self._touched.clear()
        self._order = order
        return RuleArrays(
            self._from.values,
            self._to.values,
            self._tenant.values,
            self._acl.values,
            self._group.values,
            order,
            self.rules,
            self._tenants,
            self._acls,
        )


def _principals(acl: Any) -> tuple[str, ...]:
    """Text is one principal, empty text nobody; the order says nothing."""
    elements = acl if isinstance(acl, (list, tuple, set, frozenset)) else [acl]
    return tuple(sorted({as_text(element) for element in elements if element is not None and element != ""}))


def _day(doc_id: str, metadata: Mapping[str, Any], key: str) -> date | None:
    value = metadata.get(key)
    if value is None or value == "":
        return None
    try:
        return parse_day(value)
    except FilterError as error:
        raise DocumentError(f"document {doc_id!r}: {key}: {error}") from error


def _moment(text: str) -> tuple[int, datetime, str]:
    """Moments in order; text that is none comes before all of them."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return 0, datetime.min, text
    return 1, moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment, text


def check_metadata(doc_id: str, metadata: Mapping[str, Any]) -> None:
    """Whether a document's metadata can be stored: its bounds of validity are days.

    Raises:
        DocumentError: one is not; the message names it.
    """
    Rules.of(doc_id, metadata)
