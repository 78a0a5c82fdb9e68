"""Questions about a code that the documents define: answered from its section, refused where that says nothing of it."""

from __future__ import annotations

import pytest
from llama_index.core import Document

from gyr_hybrid import CitedResponse, HybridIndex

ALARMS = """# 伺服报警

出现伺服报警时机床进入急停状态。

## SV0401 伺服未就绪

先松开急停按钮。

## SV0404 就绪异常

更换伺服放大器。
"""
LEVELS = "# 差旅\n\n## P4–P6 员工\n\n住宿每晚 400 元。\n\n## P7、P8 员工\n\n住宿每晚 550 元。"
TABLE = "# 差旅\n\n| 级别 | 住宿 |\n|---|---|\n| P4–P5 | 400 元 |\n| P6–P8 | 550 元 |"
FORMS = """# 表单

## EXP-02 招待费报销单

招待费填写 EXP-02，人均不超过 200 元。

## EXP-03 办公用品报销单

办公用品填写 EXP-03，单价 500 元以上不得报销。
"""
TRANSPORT = "# 交通\n\n## P8 员工\n\n经济舱、高铁二等座。\n\n## P10 员工\n\n高铁商务座、公务舱。"
RANGES = "# ALM-101/102/103\n\n停机冷却。\n\n# ALM-201~205\n\n检查电源。\n\n# ALM-401-ALM-403\n\n检查网线。"


def ask(question: str, *documents: str | Document) -> CitedResponse:
    pages = [d if isinstance(d, Document) else Document(id_=f"d{i}", text=d) for i, d in enumerate(documents)]
    with HybridIndex.from_documents(pages, offline=True) as index:
        response = index.as_query_engine().query(question)
    assert isinstance(response, CitedResponse)
    return response


@pytest.mark.parametrize(
    ("text", "question", "answer"),
    [
        (ALARMS, "机床报SV0401怎么办", "先松开急停按钮"),
        (ALARMS, "机床报警 SV0401", "先松开急停按钮"),
        (ALARMS, "设备显示SV0401怎么办", "先松开急停按钮"),
        (ALARMS, "数控系统一直提示 SV0404", "更换伺服放大器"),
        (LEVELS, "P5 住宿标准", "400 元"),
        (LEVELS, "P6 住宿标准", "400 元"),
        (LEVELS, "P8 住宿标准", "550 元"),
        (TABLE, "P5 住宿标准", "400 元"),
        (TABLE, "P7 住宿标准", "550 元"),
        (FORMS, "EXP-02 人均上限", "200 元"),
        (FORMS, "EXP-03 单价限制", "500 元"),
        (TRANSPORT, "P10能坐公务舱吗", "公务舱"),
        (RANGES, "ALM-102 怎么处理", "停机冷却"),
        (RANGES, "ALM-205 怎么处理", "检查电源"),
        (RANGES, "ALM-402 怎么处理", "检查网线"),
    ],
)
def test_a_known_code_is_answered_from_its_section(text: str, question: str, answer: str) -> None:
    response = ask(question, text)
    assert response.refusal_reason is None
    assert answer in str(response)


@pytest.mark.parametrize(
    ("text", "question", "reason"),
    [
        (ALARMS, "SV0401 的保修期多久", "no_evidence"),
        (LEVELS, "P5 餐补标准", "no_evidence"),
        (LEVELS, "P9 住宿标准", "unknown_identifier"),
        (FORMS, "EXP-02 审批时限", "no_evidence"),
        (TRANSPORT, "P8能坐公务舱吗", "no_evidence"),
        (RANGES, "ALM-206 怎么处理", "unknown_identifier"),
    ],
)
def test_what_its_section_does_not_say_is_refused(text: str, question: str, reason: str) -> None:
    assert ask(question, text).refusal_reason == reason


def test_one_word_of_another_section_leaves_some_evidence() -> None:
    response = ask("SV0401 按哪个机床", ALARMS)
    assert response.evidence > 0
