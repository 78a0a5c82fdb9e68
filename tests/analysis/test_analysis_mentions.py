"""Codes of a child and the places that define them."""

from __future__ import annotations

import pytest

from gyr_hybrid.analysis import Analyzer, Mention

ANALYZER = Analyzer()


def mentions(text: str, **options: object) -> dict[str, bool]:
    """Canonical form -> whether any mention defines."""
    result: dict[str, bool] = {}
    for mention in ANALYZER.mentions(text, **options):  # type: ignore[arg-type]
        result[mention.code.canonical] = result.get(mention.code.canonical, False) or mention.defining
    return result


def test_headings_define_what_the_text_does_not_say() -> None:
    found = ANALYZER.mentions("下载最新模板", header_path=["错误码 E1042:银行流水导入失败", "解决办法"])
    assert [(one.code.canonical, one.defining, one.code.start) for one in found] == [("e1042", True, -1)]
    assert isinstance(found[0], Mention)


@pytest.mark.parametrize(
    ("text", "defining"),
    [
        ("## E1042 的处理", True),
        ("E1042：列名与模板不匹配", True),
        ("- E1042: 列名不匹配", True),
        ("**E1042** 列名不匹配", True),
        ("- **`E1042`** 列名不匹配", True),
        ("| E1042 | 列名不匹配 |", True),
        ("* Error Number: E1042", True),
        ("* Error Number: E1042 (retired)", True),
        ("E1042（导入失败）", True),
        ("见 E1042（导入失败）", False),
        ("错误码：E1042", True),
        ("E1042", True),
        ("出现 E1042 时请重试", False),
        ("| 列名不匹配 | E1042 |", False),
        ("见 E1042：列名不匹配", False),
    ],
)
def test_defining_places(text: str, defining: bool) -> None:
    assert mentions(text) == {"e1042": defining}


def test_a_bare_number_is_a_code_as_heading_or_first_cell_only() -> None:
    assert mentions("| 8001 | 内存超限 |", table_row=True) == {"8001": True}
    assert mentions("| 内存超限 | 8001 |", table_row=True) == {}
    assert mentions("## 8001\n内存超限") == {"8001": True}
    assert mentions("内存", header_path=["8001"]) == {"8001": True}
    assert mentions("内存 8001 兆") == {}


def test_rows_of_a_group_define_each_their_own() -> None:
    assert mentions("| E1042 | 见 E2017 |\n| E1043 | 编码 |", table_row=True) == {
        "e1042": True,
        "e2017": False,
        "e1043": True,
    }


def test_a_clause_bears_its_article_and_a_qualified_name_its_last_part() -> None:
    assert mentions("依照本法第十二条第（三）项") == {"第12条第3项": False, "第12条": False}
    assert mentions("抛出 java.sql.BatchUpdateException 后") == {
        "java.sql.batchupdateexception": False,
        "batchupdateexception": False,
    }


def test_short_codes_are_defined_only_where_a_place_is_about_them() -> None:
    assert mentions("| E1 | 进水超时 |", table_row=True) == {"e1": True}
    assert mentions("显示 E1 时检查水压") == {"e1": False}
    assert mentions("防滑大底", header_path=["NovaTrail X2 尺码表"]) == {"x2": False}
    assert mentions("进水超时", header_path=["E1 进水超时"]) == {"e1": True}


def test_chapters_are_codes_of_headings_alone() -> None:
    assert mentions("本章规定", header_path=["公司法", "第三章 组织机构"]) == {"第3章": True}
    assert mentions("见第三章") == {}


def test_a_word_in_capitals_is_a_code_where_a_label_says_so() -> None:
    assert mentions("型号：LED\n说明：灯") == {"led": True}
    assert mentions("灯用 LED") == {}


def test_two_words_in_one_are_a_code_in_a_first_cell_or_beside_a_label() -> None:
    assert mentions("| InvalidParameter | 参数错误 |", table_row=True) == {"invalidparameter": True}
    assert mentions("`InvalidParameter`") == {"invalidparameter": True}
    assert mentions("错误码：InvalidParameter") == {"invalidparameter": True}
    assert mentions("用 JavaScript 写的 `JavaScript` 脚本") == {}


@pytest.mark.parametrize(
    ("heading", "codes"),
    [
        ("P4–P6 员工", "p4 p5 p6"),
        ("P4-P5 员工", "p4 p5"),
        ("P4~P5 员工", "p4 p5"),
        ("P4 至 P6 员工", "p4 p5 p6"),
        ("P4~6 员工", "p4 p5 p6"),
        ("P4、P6 员工", "p4 p6"),
        ("M1/M2 员工", "m1 m2"),
        ("ALM-101/102/104 过热", "alm-101 alm-102 alm-104"),
        ("ALM-201~203", "alm-201 alm-202 alm-203"),
        ("ALM-201–203", "alm-201 alm-202 alm-203"),
        ("ALM-301 至 303 过流", "alm-301 alm-302 alm-303"),
        ("ALM-401-ALM-403", "alm-401 alm-402 alm-403"),
        ("ABC-100-200 套件", "abc-100-200"),
        ("KB-001/2024", "kb-001/2024"),
        ("2024-05-01~2024-05-03 的 E1042", "e1042"),
        ("E1042 到 1050 元", "e1042"),
    ],
)
def test_a_list_or_range_in_a_heading_defines_all_its_members(heading: str, codes: str) -> None:
    assert mentions("说明", header_path=[heading]) == dict.fromkeys(codes.split(), True)
    assert mentions(f"# {heading}") == dict.fromkeys(codes.split(), True)


def test_a_list_of_short_codes_is_defined_before_a_colon_and_in_a_first_cell() -> None:
    assert mentions("P4、P5：每晚 400 元") == {"p4": True, "p5": True}
    assert mentions("| P4–P6 | 400 元 |", table_row=True) == {"p4": True, "p5": True, "p6": True}
    assert mentions("住宿按 P4、P5 的标准") == {"p4": False, "p5": False}
