"""Grades out of whatever a model wrote."""

from __future__ import annotations

import json
import re
from typing import Any

from gyr_hybrid.analysis import fold

_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_PAIR = re.compile(
    r"(?:文档|文件|编号|doc(?:ument)?|id|index|\[)\D{0,8}?(\d+)\D{1,24}?(-?\d+(?:\.\d+)?)", re.IGNORECASE
)
_SHORT_PAIR = re.compile(r"^\W*(\d+)\s*[:=,\-]+\s*(-?\d+(?:\.\d+)?)\W*$")


def parse_grades(reply: str, count: int) -> list[float | None]:
    """Grades (0..1) of documents 1..count out of whatever the model wrote; None where there is none.

    >>> parse_grades("文档：2，相关性：9\\n文档：1，相关性：3", 3)
    [0.3, 0.9, None]
    """
    text = _THINK.sub("", reply)
    pairs = _from_json(text) or _from_lines(text)
    grades: list[float | None] = [None] * count
    valid = [(number, grade) for number, grade in pairs if 1 <= number <= count and 0 <= grade <= 10]
    top = 1.0 if valid and all(grade <= 1.0 for _, grade in valid) else 10.0
    for number, grade in valid:
        if grades[number - 1] is None:
            grades[number - 1] = grade / top
    return grades


def _from_json(text: str) -> list[tuple[int, float]]:
    """Objects or pairs of number and grade, or a list of numbers: an order."""
    for start, char in enumerate(text):
        if char not in "[{":
            continue
        try:
            value, _ = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            continue
        if isinstance(value, dict):
            lists = [v for v in value.values() if isinstance(v, list)]
            value = lists[0] if lists else [[k, v] for k, v in value.items()]
        pairs = [pair for pair in map(_pair, value) if pair is not None]
        if pairs:
            return pairs
        order = [v for v in value if isinstance(v, int) and not isinstance(v, bool)]
        if order and len(order) == len(value):
            return [(n, 10.0 * (1 - i / len(order))) for i, n in enumerate(order)]
    return []


def _pair(item: Any) -> tuple[int, float] | None:
    if isinstance(item, dict):
        values = list(item.values())
    elif isinstance(item, list):
        values = item
    else:
        return None
    numbers: list[float] = []
    for value in values[:3]:
        try:
            numbers.append(float(value))
        except (TypeError, ValueError):
            continue
    return (int(numbers[0]), numbers[1]) if len(numbers) >= 2 else None


def _from_lines(text: str) -> list[tuple[int, float]]:
    pairs = []
    for line in text.splitlines():
        match = _PAIR.search(fold(line)) or _SHORT_PAIR.match(fold(line))
        if match:
            pairs.append((int(match[1]), float(match[2])))
    return pairs
