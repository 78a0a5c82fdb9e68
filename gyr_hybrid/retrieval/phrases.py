"""Phrases of a question that say nothing beside the code they stand with."""

from __future__ import annotations

import re
from collections.abc import Sequence

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
    r"(?:日志|控制台|终端|命令行|屏幕|面板|界面|页面|窗口|后台|前台|(?:数控|控制)?系统|程序|软件|客户端|服务器|设备|机器人?|仪表|电脑|手机|"
    r"(?:数控)?[机车铣磨钻镗]床|加工中心|主机|整机|单机|机组|装置|仪器|产线|生产线|控制[器柜]|变频器|驱动器|伺服器?|控制面板|操作面板|显示[屏器]|触摸屏|"
    r"打印机|洗衣机|空调|冰箱|热水器|扫地机|路由器|电梯|压缩机|空压机|注塑机)(?:文件)?(?:里面?|中|上|内|总是|一直|老是|会|又|突然|现在|刚才?|经常)?"
    r"(?=出现|提示|显示|报|弹|返回|打印|看到|收到|说|有)"
)
"""Where a code was met: its section need not say it."""
ASPECTS = re.compile(
    r"(?:默认|缺省)(?:的)?(?:值|取值)|取值(?:范围)?|字段|列名|语法|用法|示例|"
    r"(?:(?<=[A-Za-z0-9_`])|(?<=[A-Za-z0-9_`] ))(?:系统|数据)?表(?!示|明|达|面)|"
    r"(?<![a-z])(?:default(?: value)?|syntax|columns?|fields?|usage|examples?)(?![a-z])",
    re.IGNORECASE,
)
"""What the definition of a code says in words or in figures: ``默认值：60s``, a table of fields."""

COMPARING = re.compile(
    r"区别|不同|差别|差异|关系|对比|比较|分别|各自|哪个更?好|"
    r"(?<![a-z])(?:differences?|different|differ|compared?|comparison|between|vs)(?![a-z])",
    re.IGNORECASE,
)
"""What is asked of two codes; each section says its own part."""


def without_phrases(question: str, codes: Sequence[ResolvedCode], *, aspects: bool) -> str:
    """The question with its codes and such phrases blanked out, length kept.

    Words for what a code is and the place where it was met; with several codes also words that compare them.

    Args:
        question: as it was asked.
        codes: its codes.
        aspects: also the aspects that every definition has.
    """
    patterns = [_STATE, _WHERE_MET, CLASS_WORDS]
    if aspects:
        patterns.append(ASPECTS)
    if len({code.canonical for code in codes}) > 1:
        patterns.append(COMPARING)
    text = list(question)
    for code in codes:
        text[code.start : code.end] = "_" * (code.end - code.start)
    blanked = "".join(text)
    for pattern in patterns:
        blanked = pattern.sub(lambda found: " " * len(found.group()), blanked)
    return blanked
