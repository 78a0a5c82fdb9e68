"""Answers without a model from lists and tables: all of what was asked for, and nothing that only introduces."""

from __future__ import annotations

import pytest
from llama_index.core import Document

from gyr_hybrid import HybridIndex


def answered(text: str, asked: str) -> str:
    with HybridIndex.from_documents([Document(text=text, id_="a")], offline=True) as index:
        answer = str(index.as_query_engine().query(asked))
    return answer.replace(" [a#1]", "").replace("[a#1]", "").replace(" |", "").strip()


EXCLUDED = """# 不予保修的情况

下列情况不予保修：
- 未按周期更换切削液；
- 自行拆卸伺服放大器；
- 使用非原厂刀柄；
- 水灾、雷击等不可抗力。
"""
OPENING = """# 开户材料

开户须提交以下材料：

1. 身份证原件；
2. 营业执照副本；
3. 法人授权书；
4. 公章；
5. 租赁合同。
"""
GOODS = "烟花 汽油 酒精 活鱼 刀具 电池 硫酸 油漆 种子 现金"
FORBIDDEN = "# 禁运物品\n\n" + "".join(f"- {name}\n" for name in GOODS.split())
ALARM = """# SV0401 未就绪

就绪信号没有接通。

原因：
1. 急停按钮没有松开。
2. 接触器线圈烧坏。
3. 电源低于 21.6V。

处理：先松开急停按钮，再测量电压。
"""
CLINIC = """# 科室

| 科室 | 楼层 | 电话 |
|---|---|---|
| 心内科 | 3 楼 | 8001 |
| 骨科 | 5 楼 | 8002 |
| 眼科 | 6 楼 | 8003 |
"""
CARDS = """# 会员卡

| 序号 | 卡 | 年费 | 权益 |
|---|---|---|---|
| 1 | 银卡 | 100 元 | 贵宾厅 1 次 |
| 2 | 金卡 | 300 元 | 贵宾厅 3 次 |
| 3 | 白金卡 | 900 元 | 贵宾厅 9 次 |
| 4 | 黑卡 | 3000 元 | 享金卡、白金卡的权益，年费可分期 |
"""
VISA = "# Visa documents\n\nBring these documents:\n\n- a passport;\n- two photos;\n- a bank statement.\n"


@pytest.mark.parametrize(
    ("text", "asked", "lines"),
    [
        (EXCLUDED, "哪些情况不保修", EXCLUDED),
        (EXCLUDED, "什么情况不予保修", EXCLUDED),
        (OPENING, "开户要什么材料", OPENING),
        (FORBIDDEN, "禁运物品有哪些", FORBIDDEN),
        (VISA, "What documents do I need for a visa?", VISA),
        (CLINIC, "有哪些科室", CLINIC),
    ],
)
def test_a_list_that_answers_is_shown_whole_under_its_lead_in(text: str, asked: str, lines: str) -> None:
    expected = [line.replace(" |", "") for line in lines.split("\n")[1:] if line]
    assert [line for line in answered(text, asked).split("\n") if line] == expected


@pytest.mark.parametrize(
    ("text", "asked", "shown", "hidden"),
    [
        (EXCLUDED, "雷击保修吗", ["不予保修：", "雷击"], ["切削液", "刀柄"]),
        (EXCLUDED, "使用非原厂刀柄保修吗", ["不予保修：", "刀柄"], ["切削液", "雷击"]),
        (CLINIC, "心内科在几楼", ["3 楼"], ["骨科", "眼科"]),
        (CLINIC, "骨科怎么走", ["5 楼"], ["心内科", "眼科"]),
        (CLINIC, "骨科和眼科的电话", ["8002", "8003"], ["心内科"]),
        (CARDS, "金卡年费多少", ["300 元"], ["银卡", "900", "黑卡"]),
        (CARDS, "白金卡年费多少", ["900 元"], ["300", "黑卡"]),
        (CARDS, "金卡年费多少？黑卡年费多少？", ["300 元", "3000 元"], ["银卡", "900"]),
    ],
)
def test_of_a_list_only_the_items_that_the_question_names(
    text: str, asked: str, shown: list[str], hidden: list[str]
) -> None:
    answer = answered(text, asked)
    assert [words for words in shown if words not in answer] == []
    assert [words for words in hidden if words in answer] == []


def test_a_lead_in_stands_only_before_what_it_introduces() -> None:
    assert answered(ALARM, "SV0401 怎么处理") == "就绪信号没有接通。\n\n处理：先松开急停按钮，再测量电压。"


@pytest.mark.parametrize("asked", ["SV0401的原因有哪些", "SV0401 是什么"])
def test_all_causes_are_shown(asked: str) -> None:
    causes = "原因：\n\n1. 急停按钮没有松开。\n2. 接触器线圈烧坏。\n3. 电源低于 21.6V。"
    assert causes in answered(ALARM, asked)


def test_nested_items_keep_every_lead_in() -> None:
    text = "# 安装\n\n安装步骤如下：\n\n- 接线：\n  - 断电。\n  - 接地。\n- 通电试车。\n\n安装后登记。\n"
    assert answered(text, "安装步骤有哪些").split("\n\n", 1)[0] == "安装步骤如下："
    assert "- 接线：\n  - 断电。" in answered(text, "安装步骤有哪些").replace("\n\n", "\n")
