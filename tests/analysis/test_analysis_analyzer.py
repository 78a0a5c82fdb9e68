"""Tokens of documents and questions, lexicon files, what is saved with an index."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.errors import ConfigurationError

ANALYZER = Analyzer()


def test_a_code_yields_itself_whole_joined_in_parts_and_by_number() -> None:
    assert ANALYZER.tokens("NS-X2-BLK-M") == ["ns-x2-blk-m", "nsx2blkm", "ns", "x2", "blk", "m"]
    assert ANALYZER.tokens("报错Ｅ１０４２") == ["报错", "e1042", "1042"]
    assert ANALYZER.tokens("第三十三条") == ANALYZER.tokens("第33条") == ["第33条"]


@pytest.mark.parametrize("text", ["2026/10/1", "3.5kv", "10:30", "1-3"])
def test_dates_amounts_and_ranges_stay_whole(text: str) -> None:
    assert ANALYZER.tokens(text) == [text]


def test_thousands_are_found_with_and_without_commas() -> None:
    assert ANALYZER.tokens("1,280.00") == ["1,280.00", "1280.00"]


def test_english_words_have_their_stem_beside_them_and_compounds_their_parts() -> None:
    assert ANALYZER.tokens("retries") == ["retries", "retri"]
    assert ANALYZER.tokens("open-source") == ["open-source", "opensource", "open", "source", "sourc"]


def test_long_words_come_with_the_words_inside_and_weighty_neighbours_with_their_border() -> None:
    assert ANALYZER.tokens("数据库迁移") == ["数据库", "数据", "据库", "迁移", "库迁"]
    assert ANALYZER.tokens("退款的金额") == ["退款", "的", "金额"]


def test_width_case_script_and_dashes_make_no_difference() -> None:
    assert ANALYZER.tokens("發票開錯了，Ｗｉ－Ｆｉ") == ANALYZER.tokens("发票开错了，wi–fi")


def test_user_words_and_words_of_letters_and_han_stay_whole() -> None:
    own = Analyzer(user_words=["云簿账本 100 n", "云簿Pro"])
    assert own.tokens("云簿账本与云簿Pro")[0] == "云簿账本"
    assert "云簿pro" in own.tokens("云簿账本与云簿Pro")
    assert "云簿账本" not in ANALYZER.tokens("云簿账本")  # nothing of it is global
    assert "t恤" in ANALYZER.tokens("这件T恤")


def test_question_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert ANALYZER.query_tokens("请问E1042是什么意思吗") == ["e1042", "1042", "意思"]
    assert ANALYZER.query_tokens("怎么") == ["怎么"]
    assert ANALYZER.query_tokens("") == []


def test_content_words_are_found_among_terms() -> None:
    words = ANALYZER.content_words("数据库的 retries 为什么失败了，银行流水在数据库和 NS-X2-BLK-M")
    assert words == ["数据库", "retri", "失败", "银行", "流水", "ns-x2-blk-m"]
    assert set(words) <= ANALYZER.terms("数据库 retry 失败 流水 银行 NS-X2-BLK-M")


def test_terms_hold_no_borders() -> None:
    assert "库迁" not in ANALYZER.terms("数据库迁移")


@given(st.text(max_size=80))
def test_every_text_has_tokens_that_are_not_empty(text: str) -> None:
    tokens = ANALYZER.tokens(text)
    assert all(
        token and not any(character.isspace() for character in token.replace(" ", "")) for token in tokens
    )
    assert ANALYZER.terms(text) <= set(tokens)


@given(st.text(alphabet="数据库 的NSX-2E1042。，/_.ab", max_size=40))
def test_content_words_of_a_text_are_its_terms(text: str) -> None:
    assert set(ANALYZER.content_words(text)) <= ANALYZER.terms(text)


def test_the_fingerprint_is_of_dictionary_and_rules_not_of_the_back_end() -> None:
    assert Analyzer(backend="jieba").fingerprint == ANALYZER.fingerprint
    assert Analyzer(class_words=["工位"]).fingerprint != ANALYZER.fingerprint


def test_what_is_saved_restores_the_same_analyzer() -> None:
    own = Analyzer(
        user_words=["云簿账本"],
        code_patterns=[r"甲\d+"],
        class_words=["工位"],
        family_words=["全线"],
        stop_words=["呃"],
    )
    for again in (Analyzer.from_dict(own.to_dict()), pickle.loads(pickle.dumps(own)), copy.deepcopy(own)):
        assert again.fingerprint == own.fingerprint
        assert again.codes("甲12") == own.codes("甲12")


def test_lexicon_files_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "userdict.txt").write_text("\ufeff# words\n云簿账本 100 n\n\n", encoding="utf-8")
    (tmp_path / "code_patterns.txt").write_text(r"甲\d+", encoding="utf-8")
    (tmp_path / "class_words.txt").write_text("工位\n", encoding="utf-8")
    own = Analyzer.from_folder(tmp_path)
    assert own.to_dict()["user_words"] == ["云簿账本 100 n"]
    assert [code.text for code in own.codes("甲1 工位 77")] == ["甲1", "77"]
    assert own.tokens("云簿账本") == ["云簿账本", "账本"]


def test_errors_name_the_value_and_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"'\[' is no regular expression.*correct it"):
        Analyzer(code_patterns=["["])
    with pytest.raises(ConfigurationError, match="back end 'thulac'; use 'auto'"):
        Analyzer(backend="thulac")
    with pytest.raises(ConfigurationError, match="does not exist"):
        Analyzer.from_folder(tmp_path / "none")
    with pytest.raises(ConfigurationError, match="put it in a list"):
        Analyzer(class_words="工位")
    (tmp_path / "userdict.txt").write_bytes("云簿".encode("gbk"))
    with pytest.raises(ConfigurationError, match="save it as UTF-8"):
        Analyzer.from_folder(tmp_path)


def test_importing_loads_no_dictionary() -> None:
    script = (
        "import sys; from gyr_hybrid.analysis import Analyzer; Analyzer().codes('E1042'); "
        "print([name for name in ('jieba', 'rjieba', 'snowballstemmer', 'rapidfuzz') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
