"""What a question asks about a code that the documents know, besides naming it."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.dependence import other_words
from gyr_hybrid.retrieval.resolved_code import ResolvedCode

CLASS_WORDS = re.compile(
    r"错误(?:码|代码|编号|信息|提示)?|报错(?:码|代码|信息)?|(?:异常|故障|告警|报警)(?:码|代码)?|"
    r"配置(?:项|参数|文件)?|系统变量|变量|参数|选项|型号|料号|货号|编号|编码|代码|产品|商品|全?系列?|家族|开头的?|"
    r"(?<![a-z])(?:errors?|faults?|alarms?|exceptions?|warnings?|codes?|sku|options?|parameters?|variables?|settings?|models?|"
    r"numbers?)(?![a-z])",
    re.IGNORECASE,
)
"""Words for what a code is, wherever in the question they stand."""
_STATE = re.compile(r"[(（][0-9A-Z]{5}[)）]")
"""An SQLSTATE behind an error number."""
_WHERE_MET = re.compile(
    r"(?:日志|控制台|终端|命令行|屏幕|界面|页面|窗口|后台|前台|系统|程序|软件|客户端)(?:文件)?(?:里面?|中|上|内|总是|一直|老是|会|又)?"
    r"(?=出现|提示|显示|报|弹|返回|打印|看到|收到|说|有)"
)
"""Where a code was met: its section need not say it."""
_ASPECTS = re.compile(
    r"(?:默认|缺省)(?:的)?(?:值|取值)|取值(?:范围)?|字段|列名|语法|用法|示例|"
    r"(?:(?<=[A-Za-z0-9_`])|(?<=[A-Za-z0-9_`] ))(?:系统|数据)?表(?!示|明|达|面)|"
    r"(?<![a-z])(?:default(?: value)?|syntax|columns?|fields?|usage|examples?)(?![a-z])",
    re.IGNORECASE,
)
"""What the definition of a code says in words or in figures: ``默认值：60s``, a table of fields."""

_COMPARING = re.compile(
    r"区别|不同|差别|差异|关系|对比|比较|分别|各自|哪个更?好|"
    r"(?<![a-z])(?:differences?|different|differ|compared?|comparison|between|vs)(?![a-z])",
    re.IGNORECASE,
)
"""What is asked of two codes; each section says its own part."""

LIGHT = 0.25
"""Share of the weight of a word that no document has; words that weigh less together say little: the name of the
product that all documents are about."""


def asked_besides(
    question: str,
    weights: Mapping[str, float],
    *,
    analyzer: Analyzer,
    codes: Sequence[ResolvedCode],
    defined: bool,
) -> dict[str, float]:
    """The words of ``weights`` that a section about the code has to contain to be an answer, with their weights.

    Codes, words for what they are, words that only ask and the place where the code was met say nothing that the
    section must repeat; nor do the aspects that every definition has, where the code is defined, nor words that
    compare several codes.

    Args:
        question: as it was asked.
        weights: content word -> idf.
        analyzer: the index's.
        codes: all codes of the question.
        defined: whether a section found defines them.
    """
    blanked = question
    for code in codes:
        blanked = blanked[: code.start] + "_" * (code.end - code.start) + blanked[code.end :]
    several = len({code.canonical for code in codes}) > 1
    patterns = [
        _STATE,
        _WHERE_MET,
        CLASS_WORDS,
        *([_ASPECTS] if defined else []),
        *([_COMPARING] if several else []),
    ]
    for pattern in patterns:
        blanked = pattern.sub(lambda found: " " * len(found.group()), blanked)
    left = set(other_words(blanked, analyzer, codes))
    return {word: weight for word, weight in weights.items() if word in left}


def light(children: int) -> float:
    """The idf below which all that is asked beside a code weighs little, in an index of so many children."""
    return LIGHT * math.log(1 + 2 * children)
