"""What the codes of a question mean: spellings, families, ambiguity, unknown codes, and what a question hangs on."""

from __future__ import annotations

import re
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.retrieval.code_lookup import ResolvedCode, hangs_on, look_alike, resolve_codes
from gyr_hybrid.storage.code_map import CodeMap
from gyr_hybrid.storage.code_view import CodeView
from gyr_hybrid.storage.codes import CodeMention

ANALYZER = Analyzer()


def index(texts: Iterable[str]) -> CodeView:
    codes = CodeMap()
    for slot, text in enumerate(texts):
        found = ANALYZER.mentions(text, table_row=text.startswith("|"))
        codes.add(
            slot,
            [
                CodeMention(
                    one.code.text,
                    one.code.canonical,
                    one.code.compact,
                    one.code.kind,
                    one.code.number,
                    one.defining,
                )
                for one in found
            ],
        )
    return codes.view()


CODES = index(
    [
        "# 错误码 E1042:银行流水导入失败", "# 错误码 E1043:文件编码错误", "## E2017", "| 8001 | 内存超限 |", "| 8002 | 写入冲突 |",
        "尺码 NS-X2-BLK-M 与 NS-X2-BLK-L", "型号：GX-200B", "型号：LM337_TO3", "型号：LM337_TO39", "| `tidb_mem_quota_query` | 内存 |",
        "### `advertise-status-addr`", "### `file-size`", "### `max_allowed_packet`", "第三十三条 理事长", "第十二条 拍卖",
        "自 v6.5.3 起", "自 v6.5.10 起", "依据 GB/T 19001-2016", "ER_DUP_ENTRY：主键重复", "抛出 java.sql.BatchUpdateException",
        "| E1 | 进水超时 |", "| E2 | 排水超时 |", "型号：MAX3232ESE+", "型号：AB-1000", "编号 X1000", "返回 HTTP 429",
    ]
)  # fmt: skip


def resolved(question: str, codes: object = CODES) -> list[ResolvedCode]:
    found = resolve_codes(question, ANALYZER, codes)  # type: ignore[arg-type]
    assert [code.text for code in found] == [question[code.start : code.end] for code in found]
    return found


def meant(question: str) -> list[list[str]]:
    return [[match.text for match in code.matches] for code in resolved(question)]


def statuses(question: str) -> list[tuple[str, str]]:
    return [(code.text, code.status) for code in resolved(question)]


@pytest.mark.parametrize(
    "question",
    [
        "E1042", "e1042", "Ｅ１０４２", "E-1042", "E–1042", "E 1042", "E_1042", "E.1042", "错误码1042", "错误码：1042", "报错 1042 怎么办",
        "提示E1042怎么办", "导入流水提示 E1042 怎么办", "error code 1042", "E1042.csv 是什么", "（Ｅ－１０４２）时",
    ],
)  # fmt: skip
def test_spellings_of_an_error_code(question: str) -> None:
    assert meant(question) == [["E1042"]]
    assert resolved(question)[0].status == "known"


@pytest.mark.parametrize(
    "question",
    ["NS-X2-BLK-M", "ns-x2-blk-m有货吗", "ＮＳ－Ｘ２－ＢＬＫ－Ｍ", "NS–X2–BLK–M", "NS X2 BLK M", "NS_X2_BLK_M", "NS.X2.BLK.M", "我的nsx2blkm坏了", "NS X 2 BLK M"],
)  # fmt: skip
def test_spellings_of_a_sku(question: str) -> None:
    assert meant(question) == [["NS-X2-BLK-M"]]


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("TIDB_MEM_QUOTA_QUERY 的默认值", "tidb_mem_quota_query"),
        ("tidb mem quota query 怎么设", "tidb_mem_quota_query"),
        ("配置项 file size 有什么作用", "file-size"),
        ("file size", "file-size"),
        ("er dup entry 怎么处理", "ER_DUP_ENTRY"),
        ("max3232ese 有货吗", "MAX3232ESE+"),
        ("6.5.3 有哪些改进", "v6.5.3"),
        ("GBT19001-2016 是什么", "GB/T 19001-2016"),
        ("第33条的内容", "第三十三条"),
        ("第 33 条", "第三十三条"),
        ("章程第三十三条第（二）项", "第三十三条"),
        ("BatchUpdateException 怎么处理", "BatchUpdateException"),
        ("8001", "8001"),
        ("8001 是什么意思", "8001"),
        ("ERROR 8002 (HY000) 怎么办", "8002"),
        ("e1怎么办", "E1"),
        ("接口返回 HTTP 429", "429"),
    ],
)
def test_spellings_of_other_kinds(question: str, code: str) -> None:
    assert meant(question) == [[code]]


def test_a_neighbour_is_never_meant() -> None:
    assert meant("LM337_TO3 和 LM337_TO39 有什么区别") == [["LM337_TO3"], ["LM337_TO39"]]
    assert statuses("E1044 怎么办") == [("E1044", "unknown")]
    assert statuses("NS-X2-BLK-MX") == [("NS-X2-BLK-MX", "unknown")]
    assert statuses("v6.5.30 有哪些改进") == [("v6.5.30", "unknown")]


def test_a_number_means_the_code_around_it_only_beside_a_class_word() -> None:
    assert statuses("错误码1000") == [("1000", "ambiguous")]
    assert meant("错误码1000") == [["AB-1000", "X1000"]]
    assert resolved("每月 1042 元能退吗") == []
    assert resolved("重试 8001 次") == []
    assert resolved("报错 3 次后锁定") == []
    assert meant("10423") == []


def test_a_key_of_several_codes_means_all_of_them() -> None:
    codes = index(["型号：LT1761-12", "型号：LT1761-1.2"])
    (code,) = resolved("LT176112", codes)
    assert (code.status, [match.text for match in code.matches]) == ("ambiguous", ["LT1761-1.2", "LT1761-12"])
    (code,) = resolved("LT1761 1.2 的封装", codes)
    assert code.status == "ambiguous"
    (code,) = resolved("LT1761-12 的封装", codes)
    assert (code.status, [match.text for match in code.matches]) == ("known", ["LT1761-12"])


@pytest.mark.parametrize(
    ("question", "members"),
    [
        ("NS-X2 有几种颜色", ["NS-X2-BLK-L", "NS-X2-BLK-M"]),
        ("NS-X2-BLK", ["NS-X2-BLK-L", "NS-X2-BLK-M"]),
        ("NS X2 系列有哪些", ["NS-X2-BLK-L", "NS-X2-BLK-M"]),
        ("NS 系列有哪些", ["NS-X2-BLK-L", "NS-X2-BLK-M"]),
        ("NS-X2- 系列有哪些", ["NS-X2-BLK-L", "NS-X2-BLK-M"]),
        ("E104 系列有哪些错误", ["E1042", "E1043"]),
        ("v6.5 有哪些改进", ["v6.5.3", "v6.5.10"]),
        ("GB/T 19001 是什么标准", ["GB/T 19001-2016"]),
    ],
)
def test_families(question: str, members: list[str]) -> None:
    (code,) = resolved(question)
    assert (code.status, [match.text for match in code.matches]) == ("family", members)


def test_an_exact_code_wins_over_its_family() -> None:
    codes = index(["型号：NS-X2", "型号：NS-X2-BLK-M"])
    (code,) = resolved("NS-X2 有货吗", codes)
    assert (code.status, [match.text for match in code.matches]) == ("known", ["NS-X2"])
    (code,) = resolved("NS-X2 系列有货吗", codes)
    assert (code.status, [match.text for match in code.matches]) == ("known", ["NS-X2", "NS-X2-BLK-M"])


def test_a_plain_word_is_no_family_without_a_family_word() -> None:
    assert resolved("NS 是什么") == []
    assert resolved("TiDB 支持什么") == []


def test_letters_before_a_family_word_are_those_of_the_code() -> None:
    codes = index(
        ["| SV100 | 1 |", "| SV-200 | 2 |", "型号：SVX-300", "| A10 | 甲 |", "| A11 | 乙 |", "型号：AB-1000"]
    )
    for question in ("SV系列", "SV 系列有哪些", "sv系列", "ＳＶ开头的型号"):
        (code,) = resolved(question, codes)
        assert (code.status, [match.text for match in code.matches]) == ("family", ["SV100", "SV-200"]), (
            question
        )
    (code,) = resolved("A系列有哪些", codes)
    assert (code.status, [match.text for match in code.matches]) == ("family", ["A10", "A11"])


def test_a_prefix_with_a_family_word_that_no_document_says_is_unknown() -> None:
    for question in ("SV系列", "ZQ 系列有哪些型号", "K9系列"):
        assert [code.status for code in resolved(question)] == ["unknown"], question
    said = resolve_codes("Linux 系列有哪些", ANALYZER, CODES, said=lambda token: token == "linux")
    assert said == []  # a word of the documents


def test_unknown_codes_come_with_what_exists() -> None:
    (code,) = resolved("E1044 怎么办")
    assert (code.status, code.suggestions, code.known_shape) == ("unknown", ("E1042", "E1043", "E2017"), True)
    (code,) = resolved("NS-X2-RED-M 有货吗")
    assert (code.status, code.suggestions) == ("unknown", ("NS-X2-BLK-L", "NS-X2-BLK-M"))
    assert resolved("ZZZZ-99999 有货吗")[0].suggestions == ()


@pytest.mark.parametrize(
    "question",
    [
        "C++ 能用吗", "5G 手机能收到验证码吗", "MySQL 8.0 的数据能导入吗", "2026年的发票", "iPhone15 登录不了", "支持 Python3.11 吗", "IPv6 访问",
        "你们用了 GPT-4 吗", "USB-C 接口", "Wi-Fi 断了", "存成 UTF-8 吗", "返回 HTTP 500 怎么办", "TLS1.2 还是 TLS1.3", "1,280.00 元的发票",
        "10:30 提交的退款", "2026/10/1", "我的订单号 SO20240001 到哪了", "手机号 13800138000 收不到短信", "邮箱 abc123@qq.com 收不到邮件",
        "http://a.cn/E1042 打不开", "A4 纸打印", "第一条消息怎么撤回", "Windows 10 和 macOS 14", "state-of-the-art 模型", "end-to-end 加密",
        "TiDB Lightning 怎么用", "第 3 版",
    ],
)  # fmt: skip
def test_ordinary_questions_hold_no_code(question: str) -> None:
    assert resolved(question) == []


def asked(question: str, *sections: str) -> bool:
    codes = resolved(question)
    (unknown,) = [code for code in codes if code.status == "unknown"]
    terms = [ANALYZER.terms(section) for section in sections]
    return hangs_on(
        question, unknown, analyzer=ANALYZER, codes=codes, section_terms=terms, idf=lambda word: 1.0
    )


@pytest.mark.parametrize(
    "question",
    [
        "E9999 怎么办",
        "E9999",
        "E9999 是什么意思，怎么处理？",
        "Q-77777 是什么",
        "v9.9.9 是什么",
        "tidb_mem_quota_apply 有什么作用",
    ],
)
def test_a_question_hangs_on_the_only_thing_it_says(question: str) -> None:
    assert asked(question, "怎么办 是什么 有什么 作用")


@pytest.mark.parametrize(
    "question",
    ["错误码 8172 与写入冲突", "DM 任务报 code=10013 写入冲突", "型号 Q77777 写入冲突", "配置项 foo-bar 写入冲突", "写入冲突报错 E9999", "第九十九条规定的写入冲突"],
)  # fmt: skip
def test_a_question_hangs_on_what_a_class_word_names(question: str) -> None:
    assert asked(question, "任务 写入 冲突 规定")


def test_a_question_hangs_on_a_code_of_a_known_family_unless_a_section_holds_half_of_the_rest() -> None:
    assert asked("NS-X2-RED-M 有货吗", "尺码 与 下单")
    assert not asked("NS-X2-RED-M 退货运费谁承担", "质量问题退货运费由商家承担")
    assert asked("NS-X2-RED-M 退货运费谁承担", "质量问题", "运费")
    assert not asked("Q-77777 退货运费谁承担")  # no family of the index


def test_versions_and_bare_numbers_have_no_family_of_their_own() -> None:
    assert not asked("使用 v1.3.0 部署集群失败")


def test_the_text_of_a_message_can_be_looked_for_instead() -> None:
    assert not asked("报错 ERROR 1236 (HY000): The slave is connecting using CHANGE MASTER")


def test_synonyms_count_as_the_word() -> None:
    question = "NS-X2-RED-M 坏了运费"
    codes = resolved(question)
    held = [ANALYZER.terms("质量问题")]

    def hangs(synonyms: dict[str, frozenset[str]]) -> bool:
        return hangs_on(
            question,
            codes[0],
            analyzer=ANALYZER,
            codes=codes,
            section_terms=held,
            idf=lambda word: 1.0,
            synonyms=synonyms,
        )

    assert hangs({})
    assert not hangs({"坏": frozenset({"质量"})})


def test_a_known_code_is_nothing_to_hang_on() -> None:
    codes = resolved("E1042 怎么办")
    assert not hangs_on(
        "E1042 怎么办", codes[0], analyzer=ANALYZER, codes=codes, section_terms=[], idf=lambda word: 1.0
    )


@pytest.mark.parametrize(
    ("first", "second", "alike"),
    [("e1042", "e1043", True), ("e1042", "e2043", True), ("e1042", "e2153", False), ("ns-x2-blk-m", "ns-x2-blk-l", True), ("e1042", "e-1042", False), ("第33条", "第34条", True)],
)  # fmt: skip
def test_look_alikes(first: str, second: str, alike: bool) -> None:
    assert look_alike(first, second) is look_alike(second, first) is alike


def test_class_words_of_the_user_count() -> None:
    own = Analyzer(class_words=["工位"], family_words=["全线"])
    (code,) = resolve_codes("工位 77777 写入冲突", own, CODES)
    assert (code.status, code.class_word, code.named) == ("unknown", "工位", True)
    assert resolve_codes("NS 全线有货吗", own, CODES)[0].status == "family"


SEPARATOR = re.compile(r"[-_./]")
letters = st.text("ABCDEFGHJKLMNPQRSTUWXYZ", min_size=1, max_size=3)
digits = st.text("0123456789", min_size=3, max_size=4)
generated = st.one_of(
    st.builds("{}{}".format, letters, digits),
    st.builds("{}-{}".format, letters, digits),
    st.builds("{}-{}{}".format, letters, digits, letters),
    st.builds("{}{}-{}_{}".format, letters, digits, letters, digits),
    st.builds(
        "ER_{}_{}".format, st.sampled_from(["DUP", "BAD", "LOCK"]), st.sampled_from(["ENTRY", "FIELD"])
    ),
)
SPELLINGS = {
    "as is": lambda code: code,
    "lower case": str.lower,
    "full width": lambda code: "".join(chr(ord(one) + 0xFEE0) for one in code),
    "en dash": lambda code: code.replace("-", "–"),
    "space": lambda code: SEPARATOR.sub(" ", code),
    "underscore": lambda code: SEPARATOR.sub("_", code),
    "dot": lambda code: SEPARATOR.sub(".", code),
    "no separator": lambda code: SEPARATOR.sub("", code),
    "border spaced": lambda code: re.sub(r"(?<=[A-Z])(?=\d)", " ", code, count=1),
}


@given(
    st.lists(generated, min_size=1, max_size=6, unique=True),
    st.sampled_from(sorted(SPELLINGS)),
    st.sampled_from(["{}", "提示{}怎么办", "请问 {} 的价格是多少", "有没有{}的手册", "（{}）有货吗"]),
)
def test_every_spelling_finds_its_code_and_alone_when_its_key_is_unique(
    codes: list[str], spelling: str, frame: str
) -> None:
    view = index(f"型号：{code}" for code in codes)
    for code in codes:
        question = frame.format(SPELLINGS[spelling](code))
        found = {match.canonical for one in resolved(question, view) for match in one.matches}
        own = {
            known.canonical
            for known in view.all()
            if SEPARATOR.sub("", fold(code)) == known.compact.replace(" ", "")
        }
        exact = {known.canonical for known in view.all() if known.text == code}
        assert exact <= found
        if len(own) == 1:
            assert found == own


@given(st.text(max_size=60))
def test_any_question_is_resolved(question: str) -> None:
    for code in resolved(question):
        assert 0 <= code.start < code.end <= len(question)


NUMBERED = index(
    [
        "参数 1828：位置偏差极限。",
        "参数 1829：停止时的极限。见参数 2020。",
        "报警 500：正向超程。",
        "## 报警 501",
    ]
)


@pytest.mark.parametrize(
    ("question", "suggestions"),
    [
        ("参数 1830 的默认值", ("1828", "1829")),
        ("参数1827怎么设置", ("1828", "1829")),
        ("1838 号参数是什么", ("1828", "1829")),
        ("参数 1830 设得太大会怎样", ("1828", "1829")),
        ("what is parameter 1830", ("1828", "1829")),
        ("报警 502 怎么处理", ("500", "501")),
    ],
)
def test_a_number_beside_a_word_that_numbers_things_is_unknown_among_such_numbers(
    question: str, suggestions: tuple[str, ...]
) -> None:
    (code,) = resolved(question, NUMBERED)
    assert (code.status, code.suggestions) == ("unknown", suggestions)
    assert hangs_on(question, code, analyzer=ANALYZER, codes=[code], section_terms=[], idf=lambda _: 1.0)


def test_the_class_word_before_a_list_of_numbers_is_that_of_each() -> None:
    found = resolved("参数 1828、1829 和 1830 有什么区别", NUMBERED)
    assert [(code.text, code.status) for code in found] == [
        ("1828", "known"),
        ("1829", "known"),
        ("1830", "unknown"),
    ]
    assert [code.text for code in resolved("参数 1828 和 130 个用户", NUMBERED)] == ["1828"]


@pytest.mark.parametrize(
    "question",
    [
        "有 130 个参数吗",
        "参数 99 是什么",
        "报警 300 次了",
        "故障 12345 怎么办",
        "参数 1830 元",
        "编号 18281828",
    ],
)
def test_a_number_of_another_kind_is_no_unknown_code(question: str) -> None:
    assert resolved(question, NUMBERED) == []


def test_a_number_that_the_documents_say_is_no_unknown_code() -> None:
    assert resolve_codes("参数 1830 的默认值", ANALYZER, NUMBERED, said=lambda token: token == "1830") == []  # type: ignore[arg-type]


def test_numbers_beside_such_a_word_are_codes_of_a_document() -> None:
    assert [code.status for code in resolved("参数 1828 和参数 2020 的默认值", NUMBERED)] == [
        "known",
        "known",
    ]
