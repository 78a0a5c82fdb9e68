"""Questions that are none: a greeting, thanks, or the wish for a person."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from llama_index.core.schema import BaseNode

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.answering.context.packing import plain_text

_GREETINGS = (
    "[你您]们?好[啊呀]?", "哈[喽啰罗]", "嗨", "大家好", "(?:早上|上午|中午|下午|晚上)好", "早安?", "晚安", "在[吗么]|在不在|有人[吗么]|有人在[吗么]",
    "(?:多谢|谢谢|感谢|谢了)(?:[你您]们?|大家)?(?:的?(?:帮助|回答|解答))?[了啦啊哦]?", "辛苦(?:[你您]们?)?了", "再见|拜拜", "好的?", "明白了|知道了|收到",
    "hello|hi|hey|hallo", "(?:hello|hi|hey) there", "good (?:morning|afternoon|evening|night)", "how are you(?: doing)?",
    "thanks?(?: you)?(?: (?:so|very) much| a lot)?", "many thanks", "bye|goodbye|see you", "ok|okay|got it",
)  # fmt: skip
_WISHES = (
    "(?:请|帮我|给我|麻烦)*(?:转接?到?|接)(?:一?个?)(?:人工|真人)(?:客服|服务|坐席)?",
    "(?:我[要想]?|请|帮我)*(?:找|要|联系|呼叫)?(?:一?下|一?个)?(?:人工|真人)(?:客服|服务|坐席)?", "(?:我[要想])?和?(?:真人|人工)(?:说话|聊天?)",
    "(?:我[要想])?(?:找|要|联系)(?:一?下|一?个)?(?:你们的?)?客服", "[你您](?:能|会|可以)(?:帮我)?(?:做|干)(?:些|点)?(?:什么|啥)", "[你您]是谁|[你您]叫什么(?:名字)?", "[你您]是(?:机器人|真人|人工)[吗么]?",
    "(?:can i |i want to |i need to |let me )?(?:talk|speak) (?:to|with) (?:a |an )?(?:real )?(?:human|person|agent)(?: please)?",
    "(?:human|live|real) (?:agent|person|support)(?: please)?", "what can you do(?: for me)?", "who are you", "are you (?:a )?(?:robot|bot|human)",
)  # fmt: skip
_ENDS = r"(?:[吧呢啊呀哦]|一下|please)?"
_GREETING = re.compile("|".join(f"(?:{p})" for p in _GREETINGS))
_WISH = re.compile("|".join(f"(?:{p}){_ENDS}" for p in _WISHES))
_PAUSE = re.compile(r"\s*[,，.。!！?？~～、;；:：…]+\s*")
_STORED = re.compile(r"^\W*(?:问题?|q(?:uestion)?)\s*\d*\s*[:：.、]|[?？]\W*$")
"""A line that is a question."""


def is_small_talk(question: str) -> bool:
    """Whether a greeting, thanks or a wish for a person is the whole question.

    >>> [is_small_talk(text) for text in ("你好，转人工", "Thanks!", "你好，退款几天到账", "人工费怎么算")]
    [True, True, False, False]
    """
    parts = [part for part in _PAUSE.split(fold(question).strip()) if part.strip()]
    return bool(parts) and all(_GREETING.fullmatch(p) or _WISH.fullmatch(p) for p in parts)


def meets(question: str, sections: Sequence[BaseNode], analyzer: Analyzer) -> bool:
    """Whether a heading or a stored question of the sections is about what was said.

    A greeting must be the whole of it; of a wish one of its words suffices (``如何联系人工客服``).
    """
    lines = [line for node in sections for line in (*_path(node), *_questions(node))]
    parts = [part for part in _PAUSE.split(fold(question).strip()) if part]
    for part in parts:
        if any(_PAUSE.sub("", fold(line)).strip() == part for line in lines):
            return True
        if _GREETING.fullmatch(part):
            continue
        words = {word for word in analyzer.content_words(part) if len(word) > 1}
        if any(words & analyzer.terms(line) for line in lines):
            return True
    return False


def _path(node: BaseNode) -> Collection[str]:
    path = node.metadata.get("header_path") or node.metadata.get("title") or []
    return [path] if isinstance(path, str) else list(map(str, path))


def _questions(node: BaseNode) -> Collection[str]:
    return [line for line in plain_text(node).split("\n") if _STORED.search(fold(line))]
