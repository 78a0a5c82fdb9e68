"""``劳动合同法第三十三条``: a numbered place, the name of the document it is in, and the newest edition of that.

Numbers of articles stand in every law, contract and handbook; the name before the number says which one is meant.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from gyr_hybrid.analysis import fold
from gyr_hybrid.retrieval.resolved_code import ResolvedCode
from gyr_hybrid.storage import View

_NAME = re.compile(r"([\w·\-()（）]{2,40})[》」』\"”’)）\]]*[\s的之中里]{0,3}$")
_REMARK = re.compile(r"[(（][^()（）]*[)）]$")
_DATE = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_./年]?(0[1-9]|1[0-2])[-_./月]?(0[1-9]|[12]\d|3[01])(?!\d)")
_APART = 1e-9  # so that equal scores follow the editions, not the reading order
_NUMBERS = re.compile(r"\d+")


def name_before(question: str, codes: Sequence[ResolvedCode]) -> str | None:
    """The words that stand before the first numbered place of a question, folded; None without any.

    They may be more than the name (``请问劳动合同法``): names are compared from their ends.
    """
    for code in codes:
        if any(match.kind == "ordinal" for match in code.matches):
            if found := _NAME.search(question[: code.start]):
                return fold(found[1])
            return None
    return None


def name_overlap(name: str, path: Sequence[str]) -> tuple[int, int]:
    """Characters in which a heading above the numbered place ends as the name ends, and that heading's length.

    Of several headings the one with most in common, then the shortest; (0, 0) when fewer than two are.

    >>> name_overlap("请问仲裁法", ["中华人民共和国仲裁法", "第三条"])
    (3, 10)
    >>> name_overlap("公司法", ["中华人民共和国劳动合同法", "第三条"])
    (0, 0)
    """
    best = (0, 0)
    for heading in path[:-1] or path:
        title = _REMARK.sub("", fold(heading).strip()).rstrip("》」』")
        common = 0
        while common < min(len(title), len(name)) and title[-1 - common] == name[-1 - common]:
            common += 1
        if common > 1 and (not best[0] or (common, -len(title)) > (best[0], -best[1])):
            best = common, len(title)
    return best


def name_shares(name: str, paths: Sequence[Sequence[str]]) -> list[float]:
    """0..1 per path: 1 for the shortest heading of those that hold most of the name.

    >>> name_shares("仲裁法", [["仲裁法", "第三条"], ["劳动仲裁法", "第三条"], ["公司法", "第三条"]])
    [1.0, 0.6, 0.0]
    """
    overlaps = [name_overlap(name, path) for path in paths]
    most = max((common for common, _ in overlaps), default=0)
    shortest = min((length for common, length in overlaps if common == most), default=0)
    return [(common / most) * min(1.0, shortest / length) if common else 0.0 for common, length in overlaps]


def newest_first(scores: dict[str, float], paths: Mapping[str, tuple[str, ...]], view: View) -> None:
    """Among sections of one title and heading in several documents, give the best score to the newest one.

    Args:
        scores: section -> score; changed.
        paths: heading paths of the sections that may be editions of each other.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    for unit in scores:
        if path := paths.get(unit):  # chapters between may have been renumbered
            groups.setdefault((path[0], path[-1]), []).append(unit)
    editions = [group for group in groups.values() if len({unit.rpartition("#")[0] for unit in group}) > 1]
    if not editions:
        return
    nodes = view.nodes([unit for group in editions for unit in group])
    for group in editions:
        ages = {unit: _edition(unit, nodes[unit].metadata) for unit in group if unit in nodes}
        best = sorted((scores[unit] for unit in ages), reverse=True)
        newest = sorted(ages, key=lambda unit: (ages[unit], scores[unit]), reverse=True)
        for place, unit in enumerate(newest):
            scores[unit] = best[place] - place * _APART


def _edition(unit: str, metadata: Mapping[str, Any]) -> tuple[str, str, str, tuple[int, ...]]:
    """Sort key: validity, update, date in the document's name, version in natural order."""
    name = f"{unit.rpartition('#')[0]} {metadata.get('source', '')}"
    dates = ["-".join(found) for found in _DATE.findall(name)]
    return (
        str(metadata.get("valid_from", "")),
        str(metadata.get("updated_at", "")),
        max(dates, default=""),
        tuple(int(number) for number in _NUMBERS.findall(str(metadata.get("version", "")))),
    )
