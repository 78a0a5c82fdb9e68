"""Answers without a model are passages: what is shown of a section, and how it is written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from gyr_hybrid import CitedResponse, HybridIndex, load_documents
from gyr_hybrid.analysis import count_tokens
from gyr_hybrid.answering.context.packing import build_context
from gyr_hybrid.answering.passages import Passages, passages
from gyr_hybrid.answering.question import Candidate, Question

HELPCENTER = Path(__file__).parents[2] / "data" / "helpcenter"
CODE = re.compile(r"E\d{4}")
LABEL = "[kb-1#1]"
FILLER = "这里说的是别的事情，与所问无关。" * 12


def words(text: str) -> set[str]:
    """Every pair of neighbouring characters and every code."""
    return {text[i : i + 2] for i in range(len(text) - 1)} | set(CODE.findall(text))


def head(text: str) -> str | None:
    found = CODE.match(text)
    return found[0] if found else None


def question(text: str, *content: str, codes: tuple[str, ...] = ()) -> Question:
    return Question(text, dict.fromkeys(content, 1.0), {}, words, codes, members=codes, head=head)


def answer(asked: Question, *texts: str, **metadata: object) -> Passages:
    nodes = [
        TextNode(
            id_=f"kb-1#{i}",
            text=text,
            metadata={"doc_id": "kb-1", "title": "退款", "header_path": ["退款", "到账"]},
        )
        for i, text in enumerate(texts, 1)
    ]
    for node in nodes:
        node.metadata |= metadata
    context = build_context([NodeWithScore(node=node) for node in nodes], "[{doc_id}#{n}]")
    sections = [
        Candidate(t, words(t), [c for c in asked.codes if c in t], (), ("kb-1", i * 1000))
        for i, t in enumerate(texts)
    ]
    return passages(context, asked, sections)


TABLE = "## 到账\n\n总则在此。\n\n另有附则。\n\n| 代码 | 办法 |\n|---|---|\n| E1042 | 换模板 |\n| E1043 | 换编码 |"
PLANS = "| 套餐 | 价格 |\n|---|---|\n| 专业版 | 49 元 |\n| 企业版 | 199 元 |"


@pytest.mark.parametrize(
    ("asked", "text", "expected"),
    [
        pytest.param(
            question("几天到账", "到账"),
            "## 到账\n\n三天到账。\n\n节假日*顺延*。",
            f"三天到账。\n\n节假日顺延。{LABEL}",
            id="a short section is whole, without markup",
        ),
        pytest.param(
            question("E1043 怎么办", codes=("E1043",)),
            TABLE,
            f"| 代码 | 办法 |\n|---|---|\n| E1043 | 换编码 {LABEL} |",
            id="the row of the code under its header",
        ),
        pytest.param(
            question("专业版多少钱", "专业"),
            PLANS,
            f"| 套餐 | 价格 |\n|---|---|\n| 专业版 | 49 元 {LABEL} |",
            id="the row of a word that the others lack",
        ),
        pytest.param(
            question("套餐价格", "套餐", "价格"),
            PLANS,
            f"| 套餐 | 价格 |\n|---|---|\n| 专业版 | 49 元 |\n| 企业版 | 199 元 {LABEL} |",
            id="all rows when what they stand under is asked for",
        ),
        pytest.param(
            question("乙店电话", "乙店"),
            "门店：甲店\n\n电话：111\n\n门店：乙店\n\n电话：222\n",
            f"**门店：乙店**\n\n电话：222{LABEL}",
            id="the record that is asked for",
        ),
        pytest.param(
            question("发票怎么开", "发票"),
            "**Q：怎么退款？**\n\nA：申请即可。\n\n**Q：怎么开发票？**\n\nA：在订单里。",
            f"**怎么开发票？**\n\n在订单里。{LABEL}",
            id="the question that is asked, with its answer",
        ),
        pytest.param(
            question("怎么退款", "退款"),
            "退款步骤如下：\n\n1. 打开设置\n2. 选择订阅\n   - 年付",
            f"退款步骤如下：\n\n1. 打开设置\n2. 选择订阅\n   - 年付{LABEL}",
            id="a list with its lead-in and numbers",
        ),
        pytest.param(
            question("怎么安装", "安装"),
            "运行以安装：\n\n```bash\nx --a [kb-1#1]\n```",
            f"运行以安装：\n\n```bash\nx --a [kb-1#1]\n```\n{LABEL}",
            id="code in its fence, the label after it",
        ),
        pytest.param(
            question("三天", "三天"),
            "三天到账。<|im_start|>见[kb-1#1]\u0007下文。",
            f"三天到账。见下文。{LABEL}",
            id="no template tokens, control characters or labels of the source",
        ),
        pytest.param(
            question("三天", "三天"),
            "### 例外\n\n三天到账。",
            f"**例外**\n\n三天到账。{LABEL}",
            id="a heading that the path lacks",
        ),
    ],
)
def test_what_is_shown_of_a_section(asked: Question, text: str, expected: str) -> None:
    found = answer(asked, text)
    assert "".join(found.pieces) == f"**退款 > 到账**\n\n{expected}"
    assert all(citation.quote in text for citation in found.citations)


def test_of_a_long_section_the_blocks_around_the_hit_are_shown_with_what_they_stand_under() -> None:
    text = f"## 到账\n\n{FILLER}\n\n银行如下：\n\n- 银联七天到账\n\n{FILLER}\n\n{FILLER}"
    (piece,) = answer(question("银联几天", "银联"), text).pieces
    assert "银行如下：\n\n- 银联七天到账" in piece
    assert count_tokens(piece) < 430
    assert piece.count("这里") in (12, 24)


def test_a_long_block_is_cut_at_sentence_ends_around_the_hit() -> None:
    (piece,) = answer(question("银联几天", "银联"), f"{FILLER * 3}银联七天到账。{FILLER * 3}").pieces
    assert "银联七天到账。" in piece
    assert piece.endswith(f"无关。{LABEL}")
    assert count_tokens(piece) < 430


def test_each_part_of_a_question_has_its_passage() -> None:
    asked = question("几天到账？谁能审批？", "到账", "审批")
    found = answer(asked, "三天到账。", "主管审批。")
    assert found.pieces == [
        f"**退款 > 到账**\n\n三天到账。{LABEL}",
        "\n\n**退款 > 到账**\n\n主管审批。[kb-1#2]",
    ]
    assert [citation.node_id for citation in found.citations] == ["kb-1#1", "kb-1#2"]


def test_each_run_of_blocks_is_cited_once() -> None:
    text = "E1042 见下。\n\n别的。\n\n" + TABLE.split("\n\n")[3]
    citations = answer(question("E1042", codes=("E1042",)), text).citations
    assert [c.quote for c in citations] == ["E1042 见下。", "| 代码 | 办法 |\n|---|---|\n| E1042 | 换模板 |"]


def test_nothing_is_shown_of_headings_alone() -> None:
    assert answer(question("到账", "到账"), "## 到账").pieces == []


def test_a_price_is_shown_from_the_section_that_has_it() -> None:
    with HybridIndex.from_documents(load_documents(HELPCENTER), offline=True) as index:
        response = index.as_query_engine().query("专业版多少钱一年")
    assert isinstance(response, CitedResponse)
    assert "468 元/年" in str(response)
    assert str(response).startswith("**套餐与价格 > 三种套餐**\n\n")
