"""Word lists of an index's owner: a bad line is named with its file, number, text and remedy, whatever the list."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from gyr_hybrid import Analyzer, ConfigurationError
from gyr_hybrid.retrieval.synonyms import load_synonyms

Reader = Callable[[Path], object]


def synonyms(folder: Path) -> object:
    return load_synonyms(folder / "synonyms.txt")


@pytest.mark.parametrize(
    ("name", "line", "remedy", "read"),
    [
        ("synonyms.txt", "退款", "`退款, 退钱`", synonyms),
        ("synonyms.txt", "坏 ->", "`坏, 破损 -> 质量问题`", synonyms),
        ("synonyms.txt", "坏 -> 破 -> 烂", "`坏, 破损 -> 质量问题`", synonyms),
        ("code_patterns.txt", "TKT_[A-Z", "write \\ before a character", Analyzer.from_folder),
        ("code_patterns.txt", "*TKT", "write \\ before a character", Analyzer.from_folder),
        ("userdict.txt", "云簿, 账本", "one word a line", Analyzer.from_folder),
        ("class_words.txt", "工单、单号", "one word a line", Analyzer.from_folder),
        ("family_words.txt", "全线；全套", "one word a line", Analyzer.from_folder),
    ],
)
def test_a_bad_line_is_named_with_its_place_and_the_remedy(
    tmp_path: Path, name: str, line: str, remedy: str, read: Reader
) -> None:
    (tmp_path / name).write_text(f"\ufeff# 注释\n\n{line}\n", encoding="utf-8")
    with pytest.raises(ConfigurationError) as raised:
        read(tmp_path)
    message = str(raised.value)
    assert message.startswith(f"{tmp_path / name}, line 3: ")
    assert line in message
    assert remedy in message


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("synonyms.txt", synonyms),
        *(
            (name, Analyzer.from_folder)
            for name in ("userdict.txt", "code_patterns.txt", "class_words.txt", "family_words.txt")
        ),
    ],
)
def test_a_file_in_another_encoding_is_named_with_its_first_bad_line(
    tmp_path: Path, name: str, read: Reader
) -> None:
    (tmp_path / name).write_bytes(b"# list\n" + "快线, 慢线\n".encode("gbk"))
    with pytest.raises(
        ConfigurationError, match=re.escape(f"{tmp_path / name}, line 2: ") + ".*save it as UTF-8"
    ):
        read(tmp_path)


def test_lines_given_in_python_are_named_by_number() -> None:
    with pytest.raises(ConfigurationError, match=r"synonyms, line 2: cannot read '退款'"):
        load_synonyms(["坏, 破损", "退款"])
    with pytest.raises(ConfigurationError, match=r"there is no file 'nowhere\.txt'"):
        load_synonyms("nowhere.txt")


def test_a_word_of_the_dictionary_may_be_parted_from_its_frequency_by_a_tab(tmp_path: Path) -> None:
    (tmp_path / "userdict.txt").write_text("云簿账本\t100\tn\n", encoding="utf-8")
    assert Analyzer.from_folder(tmp_path).tokens("云簿账本") == ["云簿账本", "账本"]
