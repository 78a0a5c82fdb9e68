"""Sentence ends of Chinese and English, and tokens that sizes are counted in."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import count_tokens, split_sentences
from gyr_hybrid.analysis.sentences import token_spans


def sentences(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("第一句。第二句！第三句？第四句…", ["第一句。", "第二句！", "第三句？", "第四句…"]),
        ("他说：“可以。”然后走了。", ["他说：“可以。”", "然后走了。"]),
        ("可以退吗？？？可以！", ["可以退吗？？？", "可以！"]),
        ("真的吗?是的!好", ["真的吗?", "是的!", "好"]),
        ("版本 3.5.1 售价 1,299.00 元。见 v3.5.1.", ["版本 3.5.1 售价 1,299.00 元。", "见 v3.5.1."]),
        ("One. Two! Three? Four", ["One. ", "Two! ", "Three? ", "Four"]),
        ("Dr. Li met Mr. Wang, e.g. today. Done.", ["Dr. Li met Mr. Wang, e.g. today. ", "Done."]),
        ("访问 https://a.cn/x?y=1!z 查看。好", ["访问 https://a.cn/x?y=1!z 查看。", "好"]),
        ("甲、乙……，以及丙。", ["甲、乙……，以及丙。"]),
        ("第一行\n第二行\n\n第三行", ["第一行\n", "第二行\n\n", "第三行"]),
        ("1. 打开\n2. 关闭", ["1. 打开\n", "2. 关闭"]),
        ("设置完成.下一步重启", ["设置完成.", "下一步重启"]),
        ("支持 A；支持 B。", ["支持 A；支持 B。"]),
        ("", []),
    ],
)
def test_ends(text: str, expected: list[str]) -> None:
    assert sentences(text) == expected


def test_a_chinese_line_that_ends_in_a_comma_goes_on() -> None:
    assert sentences("签收后七天内，\n可以退货。另付运费。") == ["签收后七天内，\n可以退货。", "另付运费。"]
    for text in ("签收后，\n\n可以退货。", "需要身份证、\n- 户口本"):
        assert len(sentences(text)) == 2


def test_a_wrapped_line_of_english_prose_is_no_end() -> None:
    text = (
        "The retriever looks up the code in the exact map\nand falls back to the compact form. Then it stops."
    )
    assert sentences(text) == [text[:85], text[85:]]
    assert sentences("a list of things that is long enough to wrap, really\n- one") == [
        "a list of things that is long enough to wrap, really\n",
        "- one",
    ]


def test_a_sentence_too_long_for_a_child_ends_at_semicolons_too() -> None:
    clause = "依照本法规定应当承担民事责任的情形包括下列各项内容并且由人民法院依法确定"
    text = "；".join([clause] * 5) + "。"
    assert len(sentences(text)) == 5


@given(st.text(alphabet="甲乙。！？.!? \n；ab1“”）,-#|", max_size=120))
def test_sentences_are_consecutive_and_lossless(text: str) -> None:
    spans = split_sentences(text)
    assert "".join(text[start:end] for start, end in spans) == text
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(spans))
    assert all(start < end for start, end in spans)


def test_long_text_without_ends_is_quick() -> None:
    assert len(split_sentences("a. " * 20_000)) >= 1
    assert len(split_sentences("e.g. x " * 20_000)) >= 1


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("错误码 E1042，请重试。", 9),
        ("カタカナ", 4),
        ("NS-X2-BLK-M", 7),
        ("1,299.00", 5),
        ("a_b", 3),
        ("  \n", 0),
        ("Привет мир", 2),
        ("😀😀", 2),
    ],
)
def test_a_token_is_a_han_character_a_run_or_another_character(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens == len(token_spans(text))
