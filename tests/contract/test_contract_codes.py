"""Codes: spellings, tiers, families, unknown ones."""

from __future__ import annotations

from typing import Any

import pytest
from llama_index.core import Document

from gyr_hybrid import Analyzer, Code, HybridIndex

E1042 = "# 错误码 E1042：流水导入失败\n\n## 原因\n\n列名与模板不匹配。\n\n## 解决办法\n\n请下载最新模板，重新填写日期后再导入。\n"
E1043 = "# 错误码 E1043：编码错误\n\n## 原因\n\n文件不是 UTF-8 编码。\n\n## 解决办法\n\n另存为 UTF-8 后重新上传。\n"
SKUS = """# 无线耳机型号表

| 型号 | 颜色 | 价格 |
|---|---|---|
| NS-X2-BLK-M | 黑色中号 | 299 元 |
| NS-X2-WHT-L | 白色大号 | 319 元 |
| NS-X3-BLK-M | 黑色中号 | 399 元 |
"""
MYSQL = """# 服务器错误

## 重复键

Error Number: 1062; Symbol: ER_DUP_ENTRY。插入了重复的键值。

## 连接过多

Error Number: 1040; Symbol: ER_CON_COUNT_ERROR。连接数超过上限。

## 参数

`innodb_buffer_pool_size` 决定缓冲池的大小，默认 128 兆。
"""
LAW = """# 考勤办法

## 第五章 休假

第三十二条 员工结婚享受婚假十天。

第三十三条 员工工作满一年享受年休假五天。

第三十四条 年休假不得跨年度累计。
"""
OTHER = "# 售后\n\n## 时限\n\n签收后七天内可以退货，运费由买家承担。\n\n## 保修\n\n耳机保修期为一年，人为损坏不保修。\n"


@pytest.fixture
def index(index_of: Any, doc: Any) -> HybridIndex:
    built: HybridIndex = index_of(
        doc("e42", E1042),
        doc("e43", E1043),
        doc("sku", SKUS),
        doc("mysql", MYSQL),
        doc("law", LAW),
        doc("other", OTHER),
    )
    return built


def statuses(index: HybridIndex, question: str) -> list[tuple[str, str]]:
    return [(c["text"], c["status"]) for c in index.as_retriever().explain(question).to_dict()["codes"]]


def code_holders(index: HybridIndex, question: str) -> list[str]:
    """Sections of the code leg, best first."""
    leg = index.as_retriever().explain(question).to_dict()["legs"]["codes"]
    return list(dict.fromkeys(row["node_id"].rpartition(".")[0] for row in leg))


# spellings


@pytest.mark.parametrize(
    "question",
    [
        "E1042", "e1042", "Ｅ１０４２", "ｅ１０４２", "E-1042", "E–1042", "E—1042", "E−1042", "E 1042", "E_1042", "E.1042",
        "提示E1042怎么办", "提示 E1042 怎么办", "出现了e1042，怎么解决", "错误码E1042", "错误码1042", "错误码 1042", "报错1042怎么办",
        "error 1042", "为什么E1042？", "「E1042」", "(E1042)", "E1042是什么意思", "導入時提示E1042怎麼辦",
    ],
)  # fmt: skip
def test_any_spelling_finds_the_code_and_never_its_neighbour_first(
    index: HybridIndex, ids: Any, question: str
) -> None:
    for options in ({}, {"rerank": False}, {"mode": "lexical"}):
        found = [i.partition("#")[0] for i in ids(index.as_retriever(top_k=10, **options).retrieve(question))]
        assert found[:2] == ["e42", "e42"], options
        assert "e43" not in found[:2]
    assert [status for _, status in statuses(index, question)] == ["known"]


@pytest.mark.parametrize(
    "question",
    [
        "NS-X2-BLK-M", "ns-x2-blk-m", "ＮＳ－Ｘ２－ＢＬＫ－Ｍ", "NS–X2–BLK–M", "NS X2 BLK M", "NS_X2_BLK_M", "NS.X2.BLK.M",
        "NSX2BLKM", "nsx2blkm", "NS-X 2-BLK-M", "NS X 2 BLK M", "买NS-X2-BLK-M多少钱", "NS-X2-BLK-M多少钱", "型号nsx2-blk-m的价格",
    ],
)  # fmt: skip
def test_any_spelling_finds_the_sku(index: HybridIndex, question: str) -> None:
    rows = index.as_retriever(merge=False).retrieve(question)
    assert "NS-X2-BLK-M" in rows[0].node.get_content()
    assert [status for _, status in statuses(index, question)] == ["known"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("ER_DUP_ENTRY", "mysql#1"), ("er dup entry 怎么处理", "mysql#1"), ("er-dup-entry", "mysql#1"), ("erdupentry", "mysql#1"),
        ("错误码 1062", "mysql#1"), ("error 1040", "mysql#2"), ("1062", "mysql#1"),
        ("innodb_buffer_pool_size 默认多大", "mysql#3"), ("INNODB_BUFFER_POOL_SIZE", "mysql#3"), ("innodb-buffer-pool-size", "mysql#3"),
        ("第三十三条", "law#2"), ("第33条", "law#2"), ("第 33 条规定了什么", "law#2"), ("根据第三十三条年休假几天", "law#2"), ("第３３条", "law#2"),
    ],
)  # fmt: skip
def test_names_numbers_and_articles_are_codes_too(
    index: HybridIndex, ids: Any, question: str, first: str
) -> None:
    assert ids(index.as_retriever().retrieve(question))[0] == first
    assert [status for _, status in statuses(index, question)] == ["known"]


def test_separators_are_never_dropped_from_versions_and_dotted_numbers(index_of: Any, doc: Any) -> None:
    index = index_of(doc("a", "# 版本 v3.5.1\n\n修复了问题。"), doc("b", "# 版本 v35.1\n\n新增了功能。"))
    assert code_holders(index, "v3.5.1 修复了什么") == ["a#1"]
    assert code_holders(index, "v35.1 有什么功能") == ["b#1"]
    assert code_holders(index, "v351") == []
    number = index_of(doc("n", "# 条款 3.5.1\n\n付款期限三十天。"))
    assert code_holders(number, "错误码 351") == []


def test_a_plus_is_kept(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("plain", "# 型号 NS-X2\n\n普通款。"), doc("plus", "# 型号 NS-X2+\n\n升级款。"))
    assert code_holders(index, "型号 NS-X2+") == ["plus#1"]
    assert code_holders(index, "型号 NS-X2") == ["plain#1"]
    assert ids(index.as_retriever().retrieve("nsx2+ 是什么款"))[0] == "plus#1"


def test_a_key_that_meets_several_codes_returns_all_marked_ambiguous(
    index_of: Any, doc: Any, ids: Any
) -> None:
    index = index_of(doc("a", "# 错误码 AB-12\n\n甲说明。"), doc("b", "# 错误码 A-B12\n\n乙说明。"))
    assert statuses(index, "AB12") == [("AB12", "ambiguous")]
    assert set(code_holders(index, "AB12")) == {"a#1", "b#1"}
    assert statuses(index, "AB-12") == [("AB-12", "known")]
    assert code_holders(index, "AB-12") == ["a#1"]
    two = index_of(doc("e", "# 错误码 E1042\n\n甲说明。"), doc("w", "# 错误码 W1042\n\n乙说明。"))
    assert [s for _, s in statuses(two, "错误码 1042")] == ["ambiguous"]
    assert set(code_holders(two, "错误码 1042")) == {"e#1", "w#1"}
    assert not two.as_query_engine().query("错误码 1042").refused


# bare numbers


def test_a_bare_number_is_a_code_of_a_document_in_a_heading_first_cell_or_after_a_class_word(
    index_of: Any, doc: Any
) -> None:
    index = index_of(
        doc("h", "# 8001\n\n网络异常。"),
        doc("t", "# 表\n\n| 错误码 | 含义 |\n|---|---|\n| 8002 | 超时 |\n| 8003 | 拒绝 |"),
        doc("c", "# 说明\n\nError Number: 8004 表示忙。\n\n错误码 8005 表示满。"),
        doc("no", "# 价格\n\n套餐 8006 元，共 8007 人购买。"),
    )
    assert {code.canonical for code in index.codes()} == {"8001", "8002", "8003", "8004", "8005"}
    assert {code.canonical: list(code.sections) for code in index.codes()}["8003"] == ["t#1"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("8001", ["known"]),
        ("８００１", ["known"]),
        ("错误码 8001", ["known"]),
        ("报错8001怎么办", ["known"]),
        ("error code 8001", ["known"]),
        ("一共有 8001 人吗", []),
        ("8001 元的套餐", []),
        ("18001", []),
        ("80011", []),
        ("电话 4008001234", []),
    ],
)
def test_a_bare_number_is_a_code_of_a_question_alone_or_beside_a_class_word(
    index_of: Any, doc: Any, question: str, expected: list[str]
) -> None:
    index = index_of(doc("h", "# 错误码 8001\n\n网络异常，一共有很多人遇到，套餐没有影响。"))
    assert [s for _, s in statuses(index, question)] == expected


# which sections bear a code, and their order


def test_a_section_bears_a_code_of_its_heading_path(index: HybridIndex, ids: Any) -> None:
    assert ids(index.as_retriever().retrieve("E1043 怎么解决"))[0] == "e43#2"
    assert set(code_holders(index, "E1043")) == {"e43#1", "e43#2"}
    codes = {code.text: list(code.sections) for code in index.codes()}
    assert codes["E1042"] == ["e42#1", "e42#2"]


def test_sections_bearing_all_codes_come_before_those_bearing_some(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("one", "# 错误码 E7001\n\n重启设备，关系说明，怎么处理。"),
        doc("two", "# 错误码 E7002\n\n更换风扇，关系说明，怎么处理。"),
        doc("both", "# 附录\n\n另见 E7001 与 E7002。"),
        doc("none", "# 关系说明\n\n怎么处理关系，关系怎么处理，请看说明。"),
    )
    for options in ({}, {"rerank": False}, {"mode": "lexical"}):
        found = ids(index.as_retriever(**options).retrieve("E7001 和 E7002 的关系怎么处理"))
        assert found[0] == "both#1", options
        assert set(found[1:3]) == {"one#1", "two#1"}, options
        assert found[3:] in ([], ["none#1"]), options


@pytest.mark.parametrize(
    "defining",
    [
        "# E7001\n\n短。",
        "# 表\n\n| 代码 | 意思 |\n|---|---|\n| E7001 | 短 |",
        "# 列表\n\nE7001：短。",
        "# 列表\n\n**E7001** 短。",
        "# 列表\n\n- E7001: 短。",
    ],
)
def test_a_defining_place_comes_before_a_mention(index_of: Any, doc: Any, ids: Any, defining: str) -> None:
    mention = "# 常见问题\n\n遇到 E7001 怎么办，请先看原因，再看解决办法，解决办法见下。"
    for documents in (
        [doc("mention", mention), doc("defining", defining)],
        [doc("defining", defining), doc("mention", mention)],
    ):
        for options in ({}, {"rerank": False}):
            found = ids(index_of(*documents).as_retriever(**options).retrieve("E7001 怎么办，解决办法"))
            assert [i.partition("#")[0] for i in found] == ["defining", "mention"]


def test_among_equals_the_rest_of_the_question_decides(index: HybridIndex, ids: Any) -> None:
    assert ids(index.as_retriever().retrieve("E1042 怎么办"))[0] == "e42#2"
    assert ids(index.as_retriever().retrieve("E1042 怎么解决"))[0] == "e42#2"
    assert ids(index.as_retriever().retrieve("E1042 是什么原因"))[0] == "e42#1"


# families


def test_a_proper_prefix_at_a_separator_is_a_family(index: HybridIndex) -> None:
    assert statuses(index, "NS-X2 有哪些颜色") == [("NS-X2", "family")]
    assert not index.as_query_engine().query("NS-X2 有哪些颜色").refused
    rows = index.as_retriever(merge=False).retrieve("NS-X2 有哪些颜色")
    bearing = [r.node.get_content().split(" | ")[0].strip("| ") for r in rows[:2]]
    assert set(bearing) == {"NS-X2-BLK-M", "NS-X2-WHT-L"}


@pytest.mark.parametrize(
    "question", ["NS-X2系列多少钱", "NS-X2 系列有哪些颜色", "NS-X2全系价格", "ns x2 系列的价格"]
)
def test_a_prefix_with_a_family_word_is_a_family(index: HybridIndex, question: str) -> None:
    assert [status for _, status in statuses(index, question)] == ["family"]


def test_a_prefix_that_ends_inside_a_part_is_no_family(index: HybridIndex) -> None:
    assert "family" not in [status for _, status in statuses(index, "NS-X 有哪些颜色")]
    assert "family" not in [status for _, status in statuses(index, "NS-X2-BL 有哪些颜色")]


def test_an_exact_code_wins_over_a_family(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(doc("base", "# 型号 NS-X2\n\n基础款。"), doc("m", "# 型号 NS-X2-BLK-M\n\n黑色款。"))
    assert statuses(index, "NS-X2 是哪款") == [("NS-X2", "known")]
    assert ids(index.as_retriever().retrieve("NS-X2 是哪款"))[0] == "base#1"


# unknown codes


@pytest.mark.parametrize(
    "question",
    [
        # (a) nothing but the code and question words
        "E9999", "E9999 怎么办", "E9999是什么", "请问 E9999 怎么解决？", "QX-7-ZZ 是什么", "what is E9999?",
        # (b) a class word beside it
        "错误码 E9999 签收后七天内可以退货吗", "型号 QX-7-ZZ 的保修期是多久", "SKU QX-7-ZZ 签收后几天内可以退货", "报错 9999 怎么办",
        "系统变量 innodb_zzz_size 默认多大", "第九十九条规定了什么", "配置项 foo_bar_baz 怎么设置",
        # (c) the shape of a known family, and no section holds the rest
        "E9999 打印机墨盒怎么更换", "NS-X9-RED-S 的蓝牙协议版本",
    ],
)  # fmt: skip
async def test_a_question_that_hangs_on_an_unknown_code_is_refused(index: HybridIndex, question: str) -> None:
    engine = index.as_query_engine()
    for answer in (engine.query(question), await engine.aquery(question)):
        assert (answer.refused, answer.refusal_reason) == (True, "unknown_identifier")
        assert answer.citations == []
        assert answer.source_nodes == []
        assert len(answer.unknown_identifiers) == 1
        assert answer.unknown_identifiers[0].text in answer.response


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("E9999 签收后七天内可以退货吗，运费由谁承担", "other#1"),
        ("我买的 XK-9900 签收后几天内可以退货", "other#1"),
        ("NS-X9-RED-S 耳机保修期多久，人为损坏保修吗", "other#2"),
    ],
)
def test_otherwise_it_is_named_and_the_question_answered(
    index: HybridIndex, question: str, first: str
) -> None:
    answer = index.as_query_engine().query(question)
    assert not answer.refused
    assert answer.citations[0].node_id == first
    assert len(answer.unknown_identifiers) == 1
    assert any(answer.unknown_identifiers[0].text in warning for warning in answer.warnings)


def test_half_of_the_words_in_one_section_after_synonyms_is_enough(index: HybridIndex) -> None:
    question = "E9999 免运费退换吗"
    plain = index.as_query_engine().query(question)
    assert plain.refusal_reason == "unknown_identifier"
    widened = index.as_query_engine(synonyms=["免运费, 运费", "退换, 退货"]).query(question)
    assert widened.refusal_reason != "unknown_identifier"


def test_a_class_word_of_ones_own_counts(index_of: Any, doc: Any) -> None:
    documents = [doc("a", E1042), doc("b", OTHER)]
    question = "铭牌 ZZ-8842 签收后几天内可以退货"
    assert index_of(*documents).as_query_engine().query(question).refusal_reason != "unknown_identifier"
    own = index_of(*documents, analyzer=Analyzer(class_words=["铭牌"]))
    assert own.as_query_engine().query(question).refusal_reason == "unknown_identifier"


@pytest.fixture
def faults(index_of: Any, doc: Any) -> HybridIndex:
    built: HybridIndex = index_of(doc("e42", E1042), doc("e43", E1043), doc("other", OTHER))
    return built


@pytest.mark.parametrize(
    ("question", "named"),
    [
        ("E 9999", "E 9999"),
        ("E 9999 怎么办", "E 9999"),
        ("E 1099 怎么解决", "E 1099"),
        ("错误码 E 9999", "E 9999"),
        ("error code E 9999", "E 9999"),
        ("错误码 ZZ8T", "ZZ8T"),
        ("ZZ8T 是什么", "ZZ8T"),
    ],
)
def test_an_unknown_code_in_any_spelling_is_refused(faults: HybridIndex, question: str, named: str) -> None:
    answer = faults.as_query_engine().query(question)
    assert answer.refusal_reason == "unknown_identifier"
    assert [unknown.text for unknown in answer.unknown_identifiers] == [named]


def test_a_spaced_part_number_is_named(index: HybridIndex) -> None:
    (unknown,) = index.as_query_engine().query("NS X9 RED S 多少钱").unknown_identifiers
    assert (unknown.text, unknown.suggestions[0]) == ("NS X9 RED S", "NS-X2-BLK-M")


@pytest.mark.parametrize(
    "question", ["签收后 7 天可以退货吗", "Windows 10 保修期", "iPhone 15 签收后几天内可以退货", "耳机 X 100 元吗", "退货 30 days"]
)  # fmt: skip
def test_words_beside_figures_are_no_spaced_code(index: HybridIndex, question: str) -> None:
    answer = index.as_query_engine().query(question)
    assert (answer.refused, answer.unknown_identifiers) == (False, [])


def test_what_a_document_says_is_no_unknown_code(index_of: Any, doc: Any) -> None:
    index = index_of(doc("zz", "# 插件\n\n插件 zz8t 用来压缩图片。"), doc("e42", E1042))
    assert index.as_query_engine().query("ZZ8T 是什么").refusal_reason != "unknown_identifier"


@pytest.mark.parametrize("word", ["流水号", "订单号"])
def test_a_class_word_of_ones_own_wins_over_the_built_in_words(index_of: Any, doc: Any, word: str) -> None:
    own = index_of(doc("a", E1042), doc("b", OTHER), analyzer=Analyzer(class_words=[word]))
    question = f"{word} ZZ-8842 签收后几天内可以退货"
    assert own.as_query_engine().query(question).refusal_reason == "unknown_identifier"


def test_a_class_word_of_ones_own_may_be_glued_to_the_number(index_of: Any, doc: Any) -> None:
    own = index_of(doc("a", E1042), doc("b", OTHER), analyzer=Analyzer(class_words=["Ticket"]))
    answer = own.as_query_engine().query("Ticket8842 签收后几天内可以退货")
    assert answer.refusal_reason == "unknown_identifier"
    assert [code.status for code in own.as_retriever().run("Ticket1042 怎么办").codes] == ["known"]


@pytest.mark.parametrize("question", ["E1042 1043", "E1042、1043", "E1042 1043 怎么办"])
def test_a_known_code_is_answered_beside_a_bare_number(faults: HybridIndex, question: str) -> None:
    answer = faults.as_query_engine().query(question)
    assert not answer.refused
    assert {c.doc_id for c in answer.citations} == {"e42"}
    assert "1043" in answer.warnings[0]


@pytest.mark.parametrize(
    "question", ["E1042 和 E9999 怎么办", "E9999 和 E1042 怎么办", "错误码 E9999、E1042 怎么解决"]
)
def test_beside_a_known_code_the_unknown_one_is_in_the_first_warning(
    index: HybridIndex, question: str
) -> None:
    answer = index.as_query_engine().query(question)
    assert not answer.refused
    assert {c.doc_id for c in answer.citations} == {"e42"}
    assert "E9999" in answer.warnings[0]
    assert [u.text for u in answer.unknown_identifiers] == ["E9999"]


def test_the_retriever_never_empties_its_result_because_of_a_code(index: HybridIndex) -> None:
    rows = index.as_retriever().retrieve("错误码 E9999 签收后七天内可以退货吗")
    assert rows
    assert index.as_query_engine().query("错误码 E9999 签收后七天内可以退货吗").context_nodes


def test_look_alikes_are_left_out_of_the_context(index_of: Any, doc: Any, ids: Any) -> None:
    index = index_of(
        doc("e42", E1042),
        doc("e43", E1043),
        doc("far", "# 说明\n\n导入失败时，见 ER_DUP_ENTRY 怎么办。"),
        doc("both", "# 对比\n\nE1042 与 E1043 都是导入失败，怎么办见各自的文章。"),
    )
    answer = index.as_query_engine(top_k=10).query("导入失败 E1042 怎么办")
    shown = {i.partition("#")[0] for i in ids(answer.context_nodes)}
    assert "e43" not in shown
    assert {"e42", "both"} <= shown
    assert "e43" in {
        i.partition("#")[0] for i in ids(index.as_retriever(top_k=10).retrieve("导入失败 E1042 怎么办"))
    }
    assert {
        i.partition("#")[0]
        for i in ids(index.as_query_engine(top_k=10).query("导入失败怎么办").context_nodes)
    } >= {"e43"}


# suggestions


def test_suggestions_are_near_then_of_the_same_shape_and_at_most_five(index_of: Any, doc: Any) -> None:
    index = index_of(
        *(doc(f"d{i}", f"# 错误码 E10{i}\n\n说明{i}。") for i in range(40, 52)),
        doc("x", "# 型号 ZZ-1\n\n款。"),
    )
    (unknown,) = index.as_query_engine().query("E1099 怎么办").unknown_identifiers
    assert unknown.text == "E1099"
    assert 1 <= len(unknown.suggestions) <= 5
    assert all(s.startswith("E10") for s in unknown.suggestions)
    (typo,) = index.as_query_engine().query("E104 怎么办").unknown_identifiers
    assert set(typo.suggestions) <= {f"E10{i}" for i in range(40, 52)}


def test_suggestions_are_what_exists_and_may_be_empty(index: HybridIndex) -> None:
    known = {code.text for code in index.codes()}
    for question in ("E9999", "E1O42", "E1044 怎么办", "QQQ-88888-ZZZZZ 是什么", "NS-X2-BLK-N 多少钱"):
        for unknown in index.as_query_engine().query(question).unknown_identifiers:
            assert set(unknown.suggestions) <= known
    (unknown,) = index.as_query_engine().query("QQQ-88888-ZZZZZ 是什么").unknown_identifiers
    assert list(unknown.suggestions) == []
    (unknown,) = index.as_query_engine().query("E1044 怎么办").unknown_identifiers
    assert set(unknown.suggestions[:2]) == {"E1042", "E1043"}
    (unknown,) = index.as_query_engine().query("NS-X2-BLK-N 多少钱").unknown_identifiers
    assert unknown.suggestions[0] == "NS-X2-BLK-M"


@pytest.mark.parametrize("question", ["E9999", "E-9999", "E_9999", "E–9999", "E.9999", "E 9999"])
def test_suggestions_do_not_depend_on_the_separator(faults: HybridIndex, question: str) -> None:
    (unknown,) = faults.as_query_engine().query(question).unknown_identifiers
    assert set(unknown.suggestions) == {"E1042", "E1043"}


# what is no code


def test_dates_amounts_and_quantities_are_no_codes(index_of: Any, doc: Any) -> None:
    index = index_of(
        doc(
            "a",
            "# 说明\n\n2026/10/1 起，每月 1,280.00 元，3.5kV 供电，UTF-8 编码，满 99% 退，电话 010-12345678，见 https://x.cn/E7。",
        )
    )
    texts = {code.text for code in index.codes()}
    assert not texts & {"2026/10/1", "1,280.00", "3.5kV", "99%", "1280.00", "10", "2026"}


def test_analyzer_codes_are_where_they_stand() -> None:
    text = "提示Ｅ１０４２时，看 NS-X2-BLK-M 的第三十三条。"
    found = Analyzer().codes(text)
    assert all(isinstance(code, Code) for code in found)
    assert [text[code.start : code.end] for code in found] == ["Ｅ１０４２", "NS-X2-BLK-M", "第三十三条"]
    assert [code.compact.lower() for code in found][:2] == ["e1042", "nsx2blkm"]


def test_a_short_code_is_not_like_everything_that_is_short() -> None:
    texts = {
        "alarms": "# 报警\n\n| 代码 | 含义 |\n|---|---|\n| A12 | 电机过热 |\n| A01 | 门盖未关 |",
        "rules": "# 制度\n\n第一条 为规范管理，制定本制度。\n\n第二条 适用于两个仓。",
    }
    documents = [Document(text=text, id_=name) for name, text in texts.items()]
    with HybridIndex.from_documents(documents, offline=True) as index:
        explained = index.as_retriever(mode="lexical").explain("机器报A13了").to_dict()
    assert explained["codes"][0]["suggestions"] == ["A12", "A01"]


def test_a_question_about_two_codes_brings_a_section_of_each_first() -> None:
    several = "\n\n".join(f"## 情形{i}\n\nE1042：第 {i} 种区别，导入流水时的区别。" for i in range(1, 5))
    documents = [
        Document(id_="a", text=f"# 导入\n\n{several}"),
        Document(id_="b", text="# 编码\n\nE1043：文件不是 UTF-8 编码。"),
    ]
    with HybridIndex.from_documents(documents, offline=True) as index:
        found = index.as_retriever(mode="lexical").retrieve("E1042 和 E1043 导入流水时有什么区别")
    assert {hit.node.ref_doc_id for hit in found[:2]} == {"a", "b"}
    scores = [hit.score or 0.0 for hit in found]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("导入流水提示 E1044 怎么办", "unknown_identifier"),
        ("导入流水时出现了E1099，如何处理？", "unknown_identifier"),
        ("导入流水 E1044", None),
        ("年假 E1044 几天", None),
    ],
)
def test_an_unknown_code_is_not_answered_from_its_neighbours(asked: str, reason: str | None) -> None:
    documents = [
        Document(id_="a", text=E1042),
        Document(id_="b", text=E1043),
        Document(id_="c", text="# 导入流水\n\n## 格式\n\n导入流水支持 CSV 格式。"),
        Document(id_="d", text="# 年假\n\n年假 5 天。"),
    ]
    with HybridIndex.from_documents(documents, offline=True) as index:
        answer = index.as_query_engine(mode="lexical").query(asked)
    assert answer.refusal_reason == reason
    assert not {node.node.ref_doc_id for node in answer.context_nodes} & {"a", "b"}
    assert answer.unknown_identifiers[0].suggestions
    assert answer.warnings
