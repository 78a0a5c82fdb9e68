"""Verdicts out of whatever a model wrote."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

Word = Literal["yes", "no", "unsure"]

_LONGEST = 60_000
"""Characters of a reply that are read, from its end: what comes before is thought."""
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")
_DECODER = json.JSONDecoder(strict=False)
_WORDS: dict[str, Word] = {
    **dict.fromkeys(("yes", "true", "是", "支持", "supported"), "yes"),
    **dict.fromkeys(("no", "false", "否", "不是", "不支持", "unsupported", "contradicted"), "no"),
    **dict.fromkeys(("unsure", "uncertain", "unknown", "不确定"), "unsure"),
}
_YES_NO = re.compile(r"[\W_]*(?:answer\s*[:：]\s*|答案?\s*[:：]\s*)?[\W_]*(yes\b|no\b|是|否)", re.IGNORECASE)
_NOT_YES = re.compile(r"是(?:否|不是|吗)|yes\s*(?:/|or)\s*no\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model said of one sentence."""

    word: Word
    quotes: tuple[str, ...] = ()
    reason: str = ""


def yes_or_no(reply: str) -> Literal["yes", "no"] | None:
    """What a reply begins with, thoughts and marks apart; None for anything else.

    >>> yes_or_no("<think>Hm. No?</think>**Yes**, it is."), yes_or_no("否"), yes_or_no("Nobody knows.")
    ('yes', 'no', None)
    """
    found = _YES_NO.match(without_thoughts(reply))
    if found is None or _NOT_YES.match(found.string, found.start(1)):
        return None
    return "yes" if found[1].lower() in ("yes", "是") else "no"


def without_thoughts(reply: str) -> str:
    """A reply without its think block, also one whose opening or closing mark is missing."""
    return _THOUGHT.sub("", reply)


def read_replies(reply: str, count: int) -> list[Reply | None]:
    """What was said of sentences 1..count; None where nothing can be read, or two different things.

    The JSON may stand in a fence or in prose, be one object, a list, a line for each sentence, or break off.

    >>> [r and r.word for r in read_replies('{"n": 2, "verdict": "no"}', 2)]
    [None, 'no']
    """
    items = list(_items(without_thoughts(reply)[-_LONGEST:]))
    if len(items) == count and not any("n" in item for item in items):
        items = [{**item, "n": number} for number, item in enumerate(items, 1)]
    found: dict[int, Reply | None] = {}
    for item in items:
        number, said = _number(item.get("n")), _said(item)
        if number is not None:
            found[number] = said if number not in found or _same(found[number], said) else None
    return [found.get(number) for number in range(1, count + 1)]


def _items(text: str) -> Iterator[dict[str, Any]]:
    """The objects that carry a verdict, in order."""
    at = text.find("{")
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            verdicts = value.get("verdicts", value)
            for item in verdicts if isinstance(verdicts, list) else [verdicts]:
                if isinstance(item, dict) and "verdict" in item:
                    yield item
        at = text.find("{", end)


def _number(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    try:
        return int(value)
    except ValueError:
        return None


def _said(item: dict[str, Any]) -> Reply | None:
    verdict = item["verdict"]
    word = _WORDS.get(str(verdict).strip().lower()) if isinstance(verdict, str | bool) else None
    if word is None:
        return None
    quotes = item.get("quotes", item.get("quote", ()))
    texts = [quotes] if isinstance(quotes, str) else quotes if isinstance(quotes, list) else []
    return Reply(word, tuple(t for t in texts if isinstance(t, str)), one_line(item.get("reason")))


def _same(one: Reply | None, other: Reply | None) -> bool:
    return one is not None and other is not None and one.word == other.word


def one_line(value: Any, longest: int = 200) -> str:
    """A model's remark, fit to stand in a reason."""
    text = " ".join(_CONTROL.sub(" ", value).split()).replace("<|", "<") if isinstance(value, str) else ""
    return text if len(text) <= longest else f"{text[:longest]}…"
