"""Ask a chat model to put a question in other words, or to take it apart."""

from __future__ import annotations

import json
import re

from gyr_hybrid.analysis import count_tokens, fold

LONGEST = 200
"""Characters of a rewriting; what is longer is an answer."""

_THINK = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_LEAD = re.compile(
    r"^\s*(?:[-*+•]\s*|[(（\[]?\d{1,2}[)）\].、:：]+\s*|(?:改写|问题|query|question)\s*\d*\s*[:：]\s*)+",
    re.IGNORECASE,
)
_PROMPT = """为检索改写下面的问题，给出 {n} 个不同的说法；如果它问了几件事，就拆成几个单独的问题。
编号、型号、错误码、日期照抄，不添加问题里没有的编号。每行一个，不编号，不解释，不回答。
Rewrite the question below for a search engine in {n} different ways; if it asks several things, one question for each.
Copy codes and dates as they are and add none. One a line, no numbering, no explanation, no answer.

问题 question: {question}"""


def rewriting_prompt(question: str, n: int) -> str:
    """What the model is asked."""
    return _PROMPT.replace("{n}", str(n)).replace("{question}", question)


def parse_rewrites(reply: str, question: str, n: int) -> list[str]:
    """At most ``n`` different rewritings out of whatever the model wrote, the question itself left out.

    >>> parse_rewrites("1. 退款多久到账\\n2. 退款多久到账\\n退款到账时间", "退款几天到账", 3)
    ['退款多久到账', '退款到账时间']
    """
    text = _THINK.sub("", reply)
    found: dict[str, str] = {}
    for line in _json_lines(text) or text.splitlines():
        line = _LEAD.sub("", line).strip().strip("`\"'“”「」").strip()
        if 1 < len(line) <= LONGEST and any(char.isalnum() for char in line):
            found.setdefault(fold(line), line)
    found.pop(fold(question.strip()), None)
    return list(found.values())[:n]


def cost(prompt: str, reply: str) -> dict[str, int]:
    """What one call took; tokens as they are counted everywhere here, not by the service."""
    return {"llm_calls": 1, "prompt_tokens": count_tokens(prompt), "reply_tokens": count_tokens(reply)}


def _json_lines(text: str) -> list[str]:
    start, end = text.find("["), text.rfind("]")
    try:
        value = json.loads(text[start : end + 1]) if 0 <= start < end else None
    except ValueError:
        return []
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
