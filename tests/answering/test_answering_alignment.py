"""Sections read into passages, and claims laid beside them: places, inherited words, exact quotes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llama_index.core.schema import NodeWithScore, TextNode

from gyr_hybrid import verify
from gyr_hybrid.answering.verification.alignment import align
from gyr_hybrid.answering.verification.claims import claims_of, content_words
from gyr_hybrid.answering.verification.crediting import credit_of, target_of
from gyr_hybrid.answering.verification.enumerations import contrasting_pairs, parallel_pairs
from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.quotation import verbatim_span
from gyr_hybrid.answering.verification.section_reader import read_section

TABLE = """| 套餐 | 每月价格 | 成员 |
| --- | --- | --- |
| 专业版 | 49 元 | 最多 3 名 |
| 企业版 | 199 元 | 不限 |
"""


def passage_of(text: str, clause: str, **options: object):  # type: ignore[no-untyped-def]
    section = read_section(text, **options)  # type: ignore[arg-type]
    return next(p for p in section.passages if clause in p.text)


def test_a_clause_inherits_the_clauses_before_it_up_to_the_semicolon() -> None:
    passage = passage_of("年付可以中途取消，按整月退款；当月不退，已用月份不退。", "已用月份")
    assert passage.carried == "当月不退"


def test_a_part_that_begins_with_a_limit_inherits_what_the_sentence_began_with() -> None:
    passage = passage_of("累计工作已满 1 年的，年假 5 天；已满 10 年的，年假 10 天。", "已满 10 年")
    assert passage.carried == "累计工作已满 "


def test_a_line_head_is_the_clauses_own() -> None:
    passage = passage_of("- **管理员**：管理账单与成员。\n- 记账员：可以修改流水。", "管理账单")
    assert (passage.head, passage.carried) == ("管理员", "")


def test_a_list_item_inherits_its_lead_in_and_knows_its_span() -> None:
    text = "下列情况不在保修范围内：\n\n1. 自行拆机；\n2. 改装。"
    passage = passage_of(text, "自行拆机")
    assert passage.carried == "下列情况不在保修范围内:"
    assert passage.lead is not None
    assert text[slice(*passage.lead)] == "下列情况不在保修范围内："


def test_items_under_an_exclusion_are_marked() -> None:
    text = "七日内可以退货，但下列商品除外：\n\n（一）定作的；\n（二）鲜活易腐的。\n\n退货的商品应当完好。"
    assert passage_of(text, "鲜活易腐").excluded
    assert not passage_of(text, "应当完好").excluded


def test_a_table_cell_bears_its_row_and_its_column() -> None:
    assert passage_of(TABLE, "199").head == "套餐\n企业版\n每月价格"


def test_a_piece_of_a_table_takes_its_columns_from_the_header_given() -> None:
    row = "| 企业版 | 199 元 | 不限 |"
    assert passage_of(row, "199", table_header="| 套餐 | 每月价格 | 成员 |").head == "套餐\n企业版\n每月价格"


def test_parallel_statements_are_cut_apart() -> None:
    section = read_section("Tents are covered for 5 years and backpacks for 10 years.")
    assert [p.text for p in section.passages] == ["tents are covered for 5 years", "backpacks for 10 years."]


def test_a_line_that_merely_wraps_goes_on() -> None:
    section = read_section("Refunds are paid to the original payment\nmethod within 5 business days.")
    assert len(section.sentences) == 1


@settings(deadline=None)
@given(st.text(alphabet="甲乙丙买卖退款 3天年元。，；：、\n|-*#（）()abc. ", max_size=120))
def test_passages_and_sentences_lie_inside_the_text(text: str) -> None:
    section = read_section(text)
    assert len(section.folded) == len(text)
    for start, end in section.sentences:
        assert 0 <= start < end <= len(text)
    for passage in section.passages:
        assert 0 <= passage.start < passage.end <= len(text)
        assert section.folded[passage.start : passage.end] == passage.text


def test_conditions_and_topics_belong_to_the_clause_after_them() -> None:
    texts = [c.text for c in claims_of("没有发票的，自出厂日期起算；试用期内，须提前三天通知。")]
    assert texts == ["没有发票的,自出厂日期起算;", "试用期内,须提前三天通知。"]


@pytest.mark.parametrize(
    ("word", "text", "stands"),
    [
        ("退款", "可以退款", True),
        ("运费", "邮费由买家承担", True),
        ("放出", "提前 14 天放号", True),
        ("金卡", "普卡年费 100 元", False),
        ("买家", "运费由卖家承担", False),
        ("检验科", "到影像科领取", False),
        ("refunded", "plans are not refundable for a refund", True),
        ("silver", "the gold plan", False),
    ],
)
def test_words_stand_as_themselves_or_as_listed_equivalents(word: str, text: str, stands: bool) -> None:
    (found, *_) = content_words(word)
    assert (credit_of(found, target_of(text), Lexicon.builtin()) >= 0.6) is stands


def test_a_claim_is_laid_beside_the_passage_that_has_its_figure() -> None:
    section = read_section("免费版 1 名成员，专业版最多 3 名成员，企业版不限人数。")
    (claim,) = claims_of("专业版最多三名成员。")
    aligned = align(claim, [section], Lexicon.builtin())
    assert aligned is not None
    assert aligned.passage.text == "专业版最多 3 名成员"
    assert aligned.support == 1.0


def test_quotes_are_whole_source_sentences_at_their_exact_places() -> None:
    text = "订单须先付款。\n\n支付宝 1-3 个工作日到账，银行卡 3-7 个工作日到账。其余见下。\n"
    node = TextNode(id_="kb-002#4", text=text)
    verdict = verify("支付宝一到三个工作日到账。", [NodeWithScore(node=node, score=0.5)])
    (quote,) = verdict.quotes
    assert quote.node_id == "kb-002#4"
    assert quote.text == "支付宝 1-3 个工作日到账，银行卡 3-7 个工作日到账。" == text[quote.start : quote.end]


def test_repeated_text_is_quoted_where_it_is_said_of_the_subject() -> None:
    text = "普卡：免年费。\n\n- 金卡：保留 90 天。\n- 白金卡：保留 90 天。\n"
    (quote,) = verify("白金卡保留 90 天。", [TextNode(text=text)]).quotes
    assert quote.text == "白金卡：保留 90 天。"
    assert quote.start == text.rindex("白金卡")


def test_a_sentence_of_two_statements_has_two_quotes() -> None:
    text = "宽限期为 7 天。数据存放在杭州。超额的数据保留 90 天。"
    quotes = verify("宽限期为 7 天，超额的数据保留 90 天。", [TextNode(text=text)]).quotes
    assert [q.text for q in quotes] == ["宽限期为 7 天。", "超额的数据保留 90 天。"]


def test_an_item_is_quoted_with_its_lead_in_when_it_leans_on_it() -> None:
    text = "下列情况不在保修范围内：\n\n1. 自行拆机造成的损坏；\n2. 超过保修期限。"
    quotes = verify("自行拆机造成的损坏不在保修范围内。", [TextNode(text=text)]).quotes
    assert {q.text for q in quotes} == {"自行拆机造成的损坏；", "下列情况不在保修范围内："}


def test_a_verbatim_sentence_is_found_with_its_full_stop_and_other_widths() -> None:
    text = "## 到账\n\n款项原路退回。支付宝 1－3 个工作日到账。"
    span = verbatim_span("支付宝 1-3 个工作日到账", read_section(text))
    assert span is not None
    assert text[slice(*span)] == "支付宝 1－3 个工作日到账。"


def test_the_end_of_a_sentence_alone_is_not_verbatim() -> None:
    section = read_section("未经批准不得退款。")
    assert verbatim_span("不得退款。", section) is None


def test_a_clause_before_a_restriction_is_not_verbatim() -> None:
    assert verbatim_span("七日内可以退货", read_section("七日内可以退货，但特价商品除外。")) is None


def test_enumerations_are_mined_from_heads_rows_and_parallel_clauses() -> None:
    assert contrasting_pairs(["管理员", "记账员", "只读成员"]) >= {("管理员", "记账员")}
    section = read_section("免费版 1 名成员，专业版最多 3 名成员。")
    assert parallel_pairs(section.passages) == {("专业版", "免费版")}
    assert read_section(TABLE).enumerations == (("每月价格", "成员"), ("专业版", "企业版"))
