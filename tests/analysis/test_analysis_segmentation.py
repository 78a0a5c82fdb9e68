"""The two back ends cut alike, and leave jieba's global state alone."""

from __future__ import annotations

import jieba
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.shipped import shipped

pytest.importorskip("rjieba")

PYTHON = Analyzer(backend="jieba")
RUST = Analyzer(backend="rjieba")

WORDS = [
    "收货地址",
    "数据库",
    "退款",
    "的",
    "中华人民共和国",
    "合作社",
    "了",
    "发票",
    "开错",
    "银行",
    "流水",
    "一百八十三",
    "天",
    "在",
    "境内",
]


def test_they_give_the_same_tokens_of_the_shipped_articles() -> None:
    for name in ("helpcenter", "novashop"):
        for path in sorted(shipped(name).glob("*.md")):
            text = path.read_text(encoding="utf-8")
            assert PYTHON.tokens(text) == RUST.tokens(text)


@given(
    st.lists(
        st.one_of(st.sampled_from(WORDS), st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)),
        max_size=12,
    )
)
def test_they_give_the_same_tokens_of_any_han_text(parts: list[str]) -> None:
    text = "".join(parts)
    assert PYTHON.tokens(text) == RUST.tokens(text)


@given(st.text(max_size=40))
def test_they_give_the_same_tokens_of_any_text(text: str) -> None:
    assert PYTHON.tokens(text) == RUST.tokens(text)


def test_they_take_user_words_alike() -> None:
    words = ["云簿账本", "银行流水 3 n", "开错了"]
    texts = ["云簿账本里的银行流水开错了", "银行流水线"]
    one, other = Analyzer(user_words=words, backend="jieba"), Analyzer(user_words=words, backend="rjieba")
    assert [one.tokens(text) for text in texts] == [other.tokens(text) for text in texts]
    assert "云簿账本" in one.tokens(texts[0])


def test_the_words_of_jieba_search_mode_are_all_there() -> None:
    text = "小明硕士毕业于中国科学院计算所后在日本京都大学深造"
    assert set(jieba.lcut_for_search(text, HMM=False)) <= set(PYTHON.tokens(text))


def test_jiebas_own_tokenizer_is_not_touched() -> None:
    Analyzer(user_words=["云簿账本"], backend="jieba").tokens("云簿账本")
    assert jieba.dt.FREQ.get("云簿账本") is None
