"""Single sentences beside single sections: what must never count as supported, and that time grows with length only."""

from __future__ import annotations

from time import process_time

import pytest
from llama_index.core.schema import TextNode

from gyr_hybrid import verify

AMOUNTS = "# 配置\n\n研发部：5000元；市场部：8000元。"
ROOMS = "# 房\n\n单人间、双人间分别收费200元、300元。"
FENCE = '```json\n{"研发部": {"额度": "5000元"}, "市场部": {"额度": "8000元"}}\n```'
MACHINES = "机型   功率\n标准型  1.5kW\n加强型  2.2kW"
EDITIONS = "【标准版】\n价格：99元/月\n\n【专业版】\n价格：199元/月"
SUZHOU = "# 苏州门店\n\n营业时间 10-22 点。"
PUMP_A = "# 甲型泵\n\n甲型泵每六个月换一次机油，使用 46 号油。"
PUMP_B = "# 乙型泵\n\n乙型泵每六个月换一次机油，使用 68 号油。"
PRICES = "| SKU | 价格 |\n|---|---|\n| PB-300 | 2399 |\n| PB-520 | 4999 |\n| PB-900 | 26800 |"
STEPS = "投料按顺序进行：先加去离子水，再加消泡剂，最后加色浆。"
DRAIN = "Drain the tank before you open the rear valve."
PASS = "年满 70 周岁且持有本市老年卡的乘客免票。"
CANCEL = "开通后 24 小时内退订的，全额退款；之后按剩余天数退款。"
SEAL = "Opening the seal ends the guarantee."

FALSE = [
    ("研发部的额度为8000元。", [AMOUNTS], True),
    ("双人间收费200元。", [ROOMS], True),
    ("研发部的额度为8000元。", [FENCE], True),
    ("标准型的功率为 2.2kW。", [MACHINES], False),
    ("标准版的价格为199元/月。", [EDITIONS], False),
    ("上海门店营业时间 10-22 点。", [SUZHOU], False),
    ("甲型泵使用 68 号油。", [PUMP_B], False),
    ("甲型泵使用 68 号油。", [PUMP_A, PUMP_B], False),
    ("甲型泵使用 46 号油。", [PUMP_B], False),
    ("最贵的是 PB-300，2399 元。", [PRICES], False),
    ("最便宜的是 PB-520，4999 元。", [PRICES], False),
    ("投料按顺序进行：先加色浆，再加消泡剂，最后加去离子水。", [STEPS], False),
    ("先加色浆，再加消泡剂，最后加去离子水。", [STEPS], False),
    ("Open the rear valve before you drain the tank.", [DRAIN], False),
    ("年满 70 周岁的乘客免票。", [PASS], False),
    ("退订的，全额退款。", [CANCEL], False),
    ("出库单建议双人复核。", ["出库单必须双人复核。"], False),
    ("出库单必须双人复核。", ["出库单建议双人复核。"], False),
    ("Opening the seal has no effect on the guarantee.", [SEAL], False),
]


@pytest.mark.parametrize(("sentence", "sections", "contradicted"), FALSE, ids=range(len(FALSE)))
def test_a_false_sentence_is_never_supported(sentence: str, sections: list[str], contradicted: bool) -> None:
    value = verify(sentence, [TextNode(text=text) for text in sections]).value
    assert value == "contradicted" if contradicted else value != "supported"


@pytest.mark.parametrize(
    ("sentence", "section"),
    [
        ("研发部：5000元；市场部：8000元。", AMOUNTS),
        ("双人间收费300元。", ROOMS),
        ("甲型泵每六个月换一次机油，使用 46 号油。", PUMP_A),
        (STEPS, STEPS),
        ("drain the tank before you open the rear valve", DRAIN),
        (CANCEL, CANCEL),
    ],
)
def test_its_true_twin_is_supported(sentence: str, section: str) -> None:
    assert verify(sentence, [TextNode(text=section)]).value == "supported"


GROWING = ["7", "a", "退"]


@pytest.mark.parametrize("place", ["sentence", "section"])
@pytest.mark.parametrize("piece", GROWING)
def test_time_grows_linearly_with_either_text(piece: str, place: str) -> None:
    def seconds(length: int) -> float:
        text = (piece * length)[:length]
        other = "导出文件保留 40 天。"
        sentence, section = (text, other) if place == "sentence" else (other, text)
        began = process_time()
        verify(sentence, [TextNode(text=section)])
        return process_time() - began

    half = max(min(seconds(8_000) for _ in range(2)), 0.02)
    assert min(seconds(16_000) for _ in range(2)) / half < 3.2
