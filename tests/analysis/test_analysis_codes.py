"""Which strings are codes of a document, and how they are keyed."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.analysis import Analyzer, fold
from gyr_hybrid.analysis.codes import compact_form, inner_number

ANALYZER = Analyzer()


def found(text: str) -> list[str]:
    return [code.canonical for code in ANALYZER.codes(text)]


@pytest.mark.parametrize(
    ("text", "canonical", "compact", "kind", "number"),
    [
        ("E1042", "e1042", "e1042", "code", "1042"),
        ("ORA-00942", "ora-00942", "ora00942", "code", "00942"),
        ("0x80070005", "0x80070005", "0x80070005", "code", "80070005"),
        ("GAUSS-00060", "gauss-00060", "gauss00060", "code", "00060"),
        ("NS-X2-BLK-M", "ns-x2-blk-m", "nsx2blkm", "code", None),
        ("PIC18F442-IP", "pic18f442-ip", "pic18f442ip", "code", None),
        ("SM-G9910/DS", "sm-g9910/ds", "smg9910ds", "code", None),
        ("LTC1234#PBF", "ltc1234#pbf", "ltc1234pbf", "code", None),
        ("MAX3232ESE+", "max3232ese+", "max3232ese+", "code", None),
        ("SO_2024-0001", "so_2024-0001", "so20240001", "code", None),
        ("CVE-2021-44228", "cve-2021-44228", "cve202144228", "code", None),
        ("kb-002", "kb-002", "kb002", "code", "002"),
        ("C-1024", "c-1024", "c1024", "code", "1024"),
        ("ER_DUP_ENTRY", "er_dup_entry", "erdupentry", "name", None),
        ("tidb_mem_quota_query", "tidb_mem_quota_query", "tidbmemquotaquery", "name", None),
        ("advertise-status-addr", "advertise-status-addr", "advertisestatusaddr", "name", None),
        ("log.file.max_days", "log.file.max_days", "logfilemaxdays", "name", None),
        ("CDC:ErrBufferReachLimit", "cdc:errbufferreachlimit", "cdcerrbufferreachlimit", "name", None),
        ("v6.5.3", "v6.5.3", "v6.5.3", "version", None),
        ("6.5.3-rc.1", "v6.5.3-rc.1", "v6.5.3-rc.1", "version", None),
        ("GB/T 19001-2016", "gb/t 19001-2016", "gbt190012016", "standard", None),
        ("ISO 9001:2015", "iso 9001-2015", "iso90012015", "standard", None),
        ("第三十三条", "第33条", "第33条", "ordinal", None),
        ("第十二条第（三）项", "第12条第3项", "第12条第3项", "ordinal", None),
        ("第120条之一", "第120条之1", "第120条之1", "ordinal", None),
        ("财税〔2016〕36号", "财税[2016]36号", "财税[2016]36号", "standard", None),
    ],
)
def test_kinds_and_keys(text: str, canonical: str, compact: str, kind: str, number: str | None) -> None:
    (code,) = ANALYZER.codes(f"见{text}的说明")
    assert (code.text, code.canonical, code.compact, code.kind, code.number) == (
        text,
        canonical,
        compact,
        kind,
        number,
    )
    assert (code.start, code.end) == (1, 1 + len(text))


@pytest.mark.parametrize(
    "text",
    [
        "2026/10/1", "2026-10-01", "2026年10月1日", "12:30:45", "10:30", "YYYY-MM-DD", "2024Q3", "1,280.00", "1280元", "¥468.00",
        "3.5kV", "10MB", "100-240V", "5V/2A", "1920x1080", "7x24", "1-3 个工作日", "3~5 天", "50%", "±0.5", "1e-6", "1m30s", "2026年",
        "1990s", "5G", "4K", "3D", "C++", "C#", "Wi-Fi", "e-mail", "Excel", "XLSX", "UTF-8", "IPv6", "USB-C", "GPT-4", "iPhone15",
        "Python3.11", "MySQL 8.0", "TCP/IP", "CI/CD", "A/B", "Node.js", "192.168.1.1:8080", "abc123@qq.com",
        "https://example.com/E1042?id=NS-X2-BLK-M", "www.example.com", "TiDB", "AutoMerge", "state-of-the-art", "open-source",
        "and/or", "don't", "30-day", "5-year-old", "GPT4-based", "No.1", "Fig.2", "第一条消息", "第3次", "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
    ],
)  # fmt: skip
def test_what_is_no_code(text: str) -> None:
    assert found(f"请看 {text} 的内容") == []


@pytest.mark.parametrize(
    "text",
    [
        "报错E1042请重试",
        "报错Ｅ１０４２请重试",
        "报错e1042。",
        "（E1042）",
        "**E1042**",
        "`E1042`",
        "E1042：",
    ],
)
def test_codes_glued_to_other_text(text: str) -> None:
    assert found(text) == ["e1042"]


def test_offsets_are_of_the_text_as_it_stands() -> None:
    text = "㎡…Ｅ–１０４２时\u200b，ＮＳ－Ｘ２－ＢＬＫ－Ｍ"
    assert [(text[code.start : code.end], code.canonical) for code in ANALYZER.codes(text)] == [
        ("Ｅ–１０４２", "e-1042"),
        ("ＮＳ－Ｘ２－ＢＬＫ－Ｍ", "ns-x2-blk-m"),
    ]


def test_enumerations_and_ranges_are_several_codes() -> None:
    assert found("E1042/E1043、E2017,E3001 与 E4001-E4009") == [
        "e1042",
        "e1043",
        "e2017",
        "e3001",
        "e4001",
        "e4009",
    ]


@pytest.mark.parametrize(
    ("text", "between"),
    [
        ("P5–P7 可报 600 元", ["p6"]),
        ("报警 A01~A04 请停机", ["a02", "a03"]),
        ("E1040 至 E1042", ["e1041"]),
        ("GX-8 到 GX-10", []),
        ("E1000-E1999 是系统错误", []),
        ("E1042、E1045", []),
        ("M3-M2 转接头", []),
        ("v1.2 到 v1.5", []),
    ],
)
def test_a_short_range_names_the_codes_between_its_ends(text: str, between: list[str]) -> None:
    named = [mention.code.canonical for mention in ANALYZER.mentions(text)]
    assert [canonical for canonical in named if canonical not in found(text)] == between
    assert all(
        mention.code.text in ("P6", "A02", "A03", "E1041")
        for mention in ANALYZER.mentions(text)
        if mention.code.canonical in between
    )


def test_a_file_named_by_a_code_bears_it() -> None:
    assert found("见 E1042.pdf") == ["e1042"]


@pytest.mark.parametrize(
    ("text", "codes", "class_word"),
    [
        ("* Error Number: 8001", ["8001"], "error number"),
        ("完整的报错信息为 ERROR 8028 (HY000): schema changed", ["8028"], "error"),
        ("错误码：1042", ["1042"], "错误码"),
        ("| `code=10001` | 数据库操作异常 |", ["10001"], "code"),
        ("[ERROR (-1005)]: Used memory", ["1005"], "error"),
        ("返回 HTTP 429", ["429"], "http"),
        ("型号：14528", ["14528"], "型号"),
        ("錯誤碼 1042 的處理", ["1042"], "错误码"),
    ],
)
def test_numbers_after_class_words_are_codes(text: str, codes: list[str], class_word: str) -> None:
    assert [(code.canonical, code.class_word) for code in ANALYZER.codes(text)] == [
        (one, class_word) for one in codes
    ]


@pytest.mark.parametrize(
    "text",
    [
        "报错 3 次后锁定",
        "错误率 5%",
        "版本 2024 年发布",
        "订单号 202310111234",
        "第 12 行报错",
        "共 1042 个错误",
    ],
)
def test_amounts_beside_class_words_are_not(text: str) -> None:
    assert found(text) == []


def test_names_that_may_be_words_need_code_marks_or_a_class_word() -> None:
    assert found("设置 file-size 与 `gc-ttl`，配置项 sql-mode") == ["gc-ttl", "sql-mode"]


def test_links_are_left_out() -> None:
    assert found("[E1042](/errors/E1043.md#e1044) 与 https://x.cn/E1045") == ["e1042"]


def test_user_patterns_come_first_and_are_per_analyzer() -> None:
    own = Analyzer(code_patterns=[r"工单[甲乙丙]\d+"], class_words=["工位"])
    assert [code.text for code in own.codes("工单甲12 转 工位 77")] == ["工单甲12", "77"]
    assert found("工单甲12 转 工位 77") == []


def test_keys_of_versions_keep_their_dots() -> None:
    assert compact_form("v6.5.3") == "v6.5.3"
    assert compact_form("1.2.3") == "1.2.3"
    assert compact_form("lm2596-3.3") == "lm259633"


def test_inner_number_is_of_a_prefix_and_a_number_only() -> None:
    assert inner_number("e1042") == "1042"
    assert inner_number("pic18f442-ip") is None


letters = st.text("ABCDEFGHJKLMNPQRSTUVWXYZ", min_size=1, max_size=3)
digits = st.text("0123456789", min_size=3, max_size=5)
codes = st.builds("{}{}{}".format, letters, st.sampled_from(["", "-", "_"]), digits)


@given(codes, st.integers(min_value=0), st.sampled_from("ABCDEFGHJ0123456789"))
def test_one_other_letter_or_digit_is_another_canonical_key(code: str, position: int, other: str) -> None:
    at = position % len(code)
    changed = code[:at] + other + code[at + 1 :]
    if changed == code or code[at] in "-_":
        return
    assert fold(changed) != fold(code)
    assert compact_form(fold(changed)) != compact_form(fold(code))


@given(st.text(max_size=60))
def test_any_text_is_read_in_order_and_without_overlap(text: str) -> None:
    spans = [(code.start, code.end) for code in ANALYZER.codes(text)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(end <= start for (_, end), (start, _) in itertools.pairwise(spans))
    assert [code.text for code in ANALYZER.codes(text)] == [text[start:end] for start, end in spans]


def test_a_path_between_underscores_is_read() -> None:
    assert Analyzer().codes("见 __/usr/lib__ 与 _/_") == []
