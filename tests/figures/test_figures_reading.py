"""The normaliser of figures: what a spelling is worth, and which spellings say the same."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyr_hybrid.figures import compare, derived, even_fold, find_figures, standing
from gyr_hybrid.figures.grammar import english_number, han_number, number_value

DAY = 86400

SAME = [
    # numerals
    ("三天", "3 天"), ("三日", "3 天"), ("两天", "2 天"), ("二倍", "两倍"), ("十五日", "15 天"), ("十天", "10 天"),
    ("二十五个", "25 个"), ("一百五十元", "150 元"), ("一千元", "1000 元"), ("一千零五十元", "1050 元"),
    ("两万五千元", "25000 元"), ("三千五元", "3500 元"), ("12 万元", "120000 元"), ("5万行", "50000 行"),
    ("五万行", "5 万行"), ("0.2 万元", "2000 元"), ("1.2 亿元", "120000000 元"), ("３ 天", "3 天"), ("１０ MB", "10 MB"),
    ("1,280.00 元", "1280 元"), ("1,280 元", "1280 元"), ("$1,700", "$1700"), ("three days", "3 days"),
    ("twenty-five days", "25 days"), ("one hundred requests", "100 requests"), ("two thousand dollars", "$2,000"),
    ("三点五倍", "3.5 倍"), ("5k 行", "5000 行"),
    # durations
    ("半年", "6 个月"), ("半年", "六个月"), ("一年", "12 个月"), ("两年", "24 个月"), ("一年半", "18 个月"),
    ("一个半月", "1.5 个月"), ("一个季度", "3 个月"), ("一周", "7 天"), ("两周", "14 天"), ("一星期", "7 日"),
    ("24 小时", "1 天"), ("72 小时", "三天"), ("半小时", "30 分钟"), ("两个半小时", "150 分钟"),
    ("60 秒", "1 分钟"), ("200ms", "0.2 秒"), ("7 个自然日", "7 天"), ("3 个工作日", "三个工作日"),
    ("3 business days", "3 个工作日"), ("two weeks", "14 days"), ("10-year", "10 years"), ("half an hour", "30 minutes"),
    ("half a year", "6 months"), ("48 hours", "2 days"), ("five working days", "5 business days"), ("24 months", "2 years"),
    # percentages, multiples, discounts
    ("百分之八十", "80%"), ("百分之二十", "20 %"), ("80％", "80%"), ("千分之五", "0.5%"), ("万分之五", "0.05%"),
    ("一半", "50%"),
    ("200%", "2 倍"), ("8 折", "八折"),
    ("八五折", "85 折"), ("95 折", "9.5 折"), ("9 折", "90%"), ("thirty percent", "30%"), ("30 per cent", "30%"),
    # money
    ("49 块", "49 元"), ("49 块钱", "¥49"), ("人民币 49 元", "49 元"), ("RMB 49", "49 元"), ("50 cents", "0.50 euros"),
    ("$39", "39 dollars"), ("39 美元", "$39"), ("150 EUR", "150 欧元"), ("135 GBP", "135 英镑"), ("3 角", "0.3 元"),
    # rates
    ("39 元/月", "每月 39 元"), ("39 元/月", "39 元每月"), ("60 次/分钟", "每分钟 60 次"), ("$39 per month", "$39 a month"),
    ("20 次/天", "每天 20 次"), ("500 元/次", "每次 500 元"), ("39 元/月", "39 元"),
    # sizes and measures
    ("10 MB", "10M"), ("10 MB", "10 兆"), ("1 GB", "1024 MB"), ("5 GB", "5 gb"), ("100 Wh", "0.1 kWh"),
    ("0.05 MPa", "50 kPa"), ("1.5 米", "150 厘米"), ("1000 米", "1 公里"), ("2 公斤", "2 kg"), ("1 公斤", "2 斤"),
    ("3.5kV", "3500 V"), ("1000 像素", "1000px"),
    # counts
    ("3 名成员", "3 个成员"), ("3 名成员", "三名成员"), ("3 members", "3 名成员"), ("3 位", "3 人"), ("最多 3 次", "3 次"),
    ("两种", "2 种"), ("5 个账本", "5 账本"),
    ("an hour and a half", "90 minutes"), ("a year and a half", "18 months"),
    ("two and a half hours", "150 minutes"),
    ("半斤", "250 克"), ("半公斤", "500 克"),

    # amounts in several units
    ("1 小时 30 分钟", "90 分钟"), ("1小时30分", "1.5 小时"), ("1h30m", "90 minutes"), ("2 min 30 s", "150 秒"), ("2 分 30 秒", "150 秒"),
    ("1 年 6 个月", "18 个月"), ("1 year and 6 months", "18 months"), ("3 天零 4 小时", "76 小时"), ("a week and 2 days", "9 days"),
    ("3 元 5 角", "3.5 元"), ("五角二分", "0.52 元"), ("12 块 5", "12.5 元"), ("12 块 5 毛", "12.5 元"), ("50 分钱", "0.5 元"),
    ("1 米 8", "1.8 米"), ("一米二以下", "1.2 米"), ("12 块 5 起", "12.5 元"), ("375 degrees F", "375 °F"), ("一米二", "120 cm"),
    # further units and spellings
    ("212 °F", "100 ℃"), ("77 华氏度", "25 ℃"), ("3700mV", "3.7V"), ("2 m²", "2 平方米"), ("1.2 m³", "1200 升"),
    ("$2.5M", "$2,500,000"), ("$2.5m", "$2.5 million"), ("$1.2k", "$1,200"), ("10w 元", "10 万元"),
    ("零点", "0:00"), ("24:00", "0:00"), ("10 点 30 分", "10:30"), ("上午10点30", "10:30"),
    ("six digits", "6 位"), ("18 years of age", "18 周岁"), ("18-year-old", "18 岁"), ("the 25th", "每月 25 日"),
    ("每公里 2 元", "2 元/公里"), ("每平方米 5 元", "5 元/平方米"), ("单日 20 次", "每天 20 次"),

    # SI prefixes
    ("5200 µA", "5.2 mA"), ("5200 uA", "5.2mA"), ("1 MW", "1000 kW"), ("1500 mW", "1.5 W"), ("10 kΩ", "10000 Ω"), ("0.1 µF", "100 nF"),
    ("1 Gbit/s", "1000 Mbps"), ("10 万", "100 k"), ("100 k", "100000"), ("3.6 MJ", "1 kWh"), ("5 千伏", "5 kV"), ("200 毫升", "0.2 L"), ("3 kilometres", "3 公里"),
    ("10 KiB", "10 KB"), ("10 MB/s", "每秒 10 MB"), ("2 kVA", "2000 伏安"), ("50 ns", "0.05 µs"),
    # dates and times
    ("2026年10月1日", "2026-10-01"), ("2026/10/1", "2026-10-01"), ("2026.10.01", "2026年10月1日"),
    ("二〇二六年十月一日", "2026年10月1日"), ("10月1日", "2026年10月1日"), ("October 1, 2026", "2026-10-01"),
    ("1 October 2026", "Oct 1, 2026"), ("10 月 1 号", "10月1日"), ("2026 年", "2026年10月1日"), ("每月 15 日", "每月15号"),
    ("8 点", "8:00"), ("早上八点", "8:00"), ("下午三点半", "15:30"), ("晚上十点", "22:00"), ("中午十二点", "12:00"),
    ("3 p.m.", "15:00"), ("8:30 am", "08:30"), ("周三", "星期三"), ("星期日", "周日"),
    # ordinals and codes
    ("第三十三条", "第33条"), ("第 3 个月", "第三个月"), ("第二顺序", "第 2 顺序"),
    ("E1042", "e1042"), ("E1042", "Ｅ１０４２"), ("NS-X2-BLK-M", "ns_x2_blk_m"), ("v7.1.0", "7.1.0"), ("UTF-8", "utf8"),
    ("429", "E429"), ("replica_factor", "`replica_factor`"), ("ER_DUP_ENTRY", "er_dup_entry"),
]  # fmt: skip

DIFFERENT = [
    ("3 天", "4 天", "absent"), ("3 天", "3 个工作日", "unit"), ("5 mW", "5 MW", "unit"), ("5 mA", "50 mA", "absent"), ("约 100 家", "150 家", "absent"), ("5 个月", "90 天", "absent"), ("5 users", "50 users", "absent"), ("3 天", "3 个月", "unit"),
    ("3 年", "3 个月", "unit"), ("3 小时", "3 分钟", "unit"), ("7%", "7 倍", "unit"), ("30%", "$30", "unit"),
    ("49 元", "49 美元", "unit"), ("10 MB", "10 GB", "unit"), ("5 万行", "5 万列", "unit"), ("5 万元", "50 万元", "absent"),
    ("3 次", "3 天", "unit"), ("1.5 米", "1.5 厘米", "unit"), ("第三条", "第四条", "absent"), ("第三条", "3 条", "unit"),
    ("E1042", "E1043", "absent"), ("v7.1.0", "v7.1.1", "absent"), ("v7.1", "7.10", "absent"), ("M 码 42", "43", "absent"),
    ("1 小时 30 分", "80 分钟", "absent"), ("3 元 5 角", "3.05 元", "absent"), ("212 °F", "212 ℃", "unit"), ("300 兆", "300 Mbps", "unit"), ("半年以上", "3 个月到半年", "bound"), ("至少 5 天", "3 到 5 天", "bound"),
    ("2026-10-01", "2026-10-02", "absent"),
    ("不超过 60 次", "至少 60 次", "bound"), ("3 人以上", "3 人以下", "bound"), ("不足 1 年", "满 1 年", "bound"),
    ("at least 30 days", "up to 30 days", "bound"), ("39 元/月", "39 元/年", "rate"), ("$12 per month", "$12 per year", "rate"),
    ("到期前 3 天", "到期后 3 天", "side"), ("3 天前", "3 天后", "side"), ("-15 ℃", "15 ℃", "unit"), ("周三", "周四", "absent"),
    ("1 个工作日", "1-3 个工作日", "bound"),
]  # fmt: skip

UNCLEAR = [
    # a unit is missing, or written in the head of a table
    ("50 GB", "50"), ("三十天", "30"), ("60", "1 分钟"), ("12", "12 万元"), ("120000 元", "12"), ("5.2", "5200 mA"), ("第 3 条", "3"),
    ("25 个基点", "0.25%"), ("39 元/席位", "每月 39 元"), ("429", "第 429 条"),
    # lengths and sizes that people count in two ways
    ("3 个月", "90 天"), ("一年", "365 天"), ("30 天", "一个月"), ("半个月", "15 天"), ("1 GB", "1000 MB"), ("2000 KB", "2 MB"), ("增加 1 倍", "2 倍"),
    ("8 点", "晚上 8 点"), ("3:30", "15:30"), ("2026年10月1日", "10月1日"), ("1 个月", "每月"), ("30 分", "30 分钟"), ("3 times", "3 倍"),
    # words that leave room
    ("约 100 家", "105 家"), ("98 家", "近 100 家"), ("30 多人", "35 人"), ("35 人", "三十余人"), ("about 50 kg", "48 kg"), ("3 个多月", "3.5 个月"),
    # a number in words may count what the source lists
    ("两个版本", "5 个工作日"), ("三种方式", "四种方式"), ("three ways", "10 days"), ("two thirds", "66.7%"),
]  # fmt: skip

NO_FIGURE = [
    "统一安排", "一些用户", "一般当天完成", "一旦提交", "一起处理", "一键导入", "任一方", "唯一的", "进一步", "十分重要", "千万不要",
    "万一丢失", "双方协商", "第三方平台", "二维码", "一律禁止", "一直有效", "百货商店", "三角形", "专一", "（一）总则", "1. 打开设置",
    "一分钱不退", "someone", "the one", "everyone",
]  # fmt: skip


def first(text: str):  # type: ignore[no-untyped-def]
    figures = [f for f in find_figures(text) if not f.weak] or list(find_figures(text))
    assert figures, f"no figure found in {text!r}"
    return figures[0]


@pytest.mark.parametrize(("spelling", "other"), SAME)
def test_spellings_of_one_figure_agree(spelling: str, other: str) -> None:
    assert standing(first(spelling), find_figures(other)) == "same", (
        find_figures(spelling),
        find_figures(other),
    )


@pytest.mark.parametrize(("figure", "other", "difference"), DIFFERENT)
def test_different_figures_say_what_differs(figure: str, other: str, difference: str) -> None:
    assert standing(first(figure), find_figures(other)) == difference


@pytest.mark.parametrize(("figure", "other"), UNCLEAR)
def test_what_cannot_be_brought_to_one_form_is_unclear(figure: str, other: str) -> None:
    assert standing(first(figure), find_figures(other)) == "unclear"


def test_a_number_in_words_without_a_limit_is_never_certainly_absent() -> None:
    assert standing(first("两个版本"), ()) == "unclear"
    assert standing(first("最多两个版本"), ()) == "absent"
    assert standing(first("2 个版本"), ()) == "absent"


@pytest.mark.parametrize("text", NO_FIGURE)
def test_words_that_only_look_like_numbers_are_none(text: str) -> None:
    assert [f.text for f in find_figures(text) if not f.weak] == []


def test_the_table_is_long_enough() -> None:
    assert len(SAME) + len(DIFFERENT) + len(NO_FIGURE) >= 150


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("不超过 60 次", "<="), ("最多 3 名", "<="), ("至多三张", "<="), ("≤5 账本", "<="), ("上限为 5 GB", "<="), ("3 天内", "<="),
        ("60 天以内", "<="), ("2000 元以下", "<="), ("不得超过 25 公里", "<="), ("up to 20 days", "<="), ("within 10 seconds", "<="),
        ("at most 3", "<="), ("no more than 3", "<="), ("至少 3 人", ">="), ("不少于 3 人", ">="), ("满 2000 元", ">="),
        ("3 人以上", ">="), ("不低于 0.05 MPa", ">="), ("at least 30 days", ">="), ("超过 90 天", ">"), ("more than 25 MB", ">"),
        ("over 20 kg", ">"), ("不足 3 人", "<"), ("不满 1 年", "<"), ("低于 0 ℃", "<"), ("under 10 days", "<"), ("约 3 天", "~"),
        ("3 天左右", "~"), ("3 天", ""),
    ],
)  # fmt: skip
def test_limits_are_read_from_the_words_around(text: str, bound: str) -> None:
    assert first(text).bound == bound


def test_an_article_like_one_asserts_no_number() -> None:
    assert [f.weak for f in find_figures("重新拍一张照片")] == [True]
    assert [f.weak for f in find_figures("send one message")] == [True]


def test_a_limited_or_rated_one_is_a_number() -> None:
    assert [f.weak for f in find_figures("每单一个")] == [False]
    assert [f.weak for f in find_figures("最多一次")] == [False]


def test_a_range_gives_both_ends() -> None:
    low, high = find_figures("支付宝 1-3 个工作日到账")
    assert (low.value, low.base, low.low) == (1, "workday", True)
    assert (high.value, high.base, high.low) == (3, "workday", False)


def test_offsets_are_those_of_the_text_as_written() -> None:
    text = "下单后 ７ 天内，每份 ¥1,280.00，由 NS-X2-BLK-M 起"
    for figure in find_figures(text):
        assert text[figure.start : figure.end] == figure.text
    assert [f.text for f in find_figures(text)] == ["７ 天", "¥1,280.00", "NS-X2-BLK-M"]


def test_numbers_inside_codes_are_no_numbers() -> None:
    assert [(f.kind, f.text) for f in find_figures("错误码 E1042 与 re2-syntax")] == [
        ("code", "E1042"),
        ("code", "re2-syntax"),
    ]


@pytest.mark.parametrize(
    ("quoted", "sentence", "worked_out"),
    [
        ("年付专业版 468 元/年", "专业版折合 39 元/月", ["39 元/月"]),
        ("每月 89 元", "用满一年共需 1068 元", ["1068 元"]),
        ("不得超过主合同标的额的百分之二十", "标的额 10 万元的，定金最多 2 万元", ["10 万元", "2 万元"]),
        ("预留数据源大小 6 倍的空间", "导入 100 GB 数据需要 600 GB", ["100 GB", "600 GB"]),
        ("银卡 98 元，金卡 168 元", "金卡比银卡贵 70 元", ["70 元"]),
        ("$12 per month each", "Five extra seats cost $60 per month", ["Five", "$60 per month"]),
        ("每天 150 元，最长 90 天", "合计最多 13500 元", ["13500 元"]),
        ("工作温度 -20 ℃ 至 60 ℃", "最高与最低相差 80 ℃", ["80 ℃"]),
    ],
)
def test_figures_worked_out_from_quoted_ones(quoted: str, sentence: str, worked_out: list[str]) -> None:
    known = find_figures(quoted)
    unknown = [f for f in find_figures(sentence) if standing(f, known) != "same" and not f.weak]
    assert [f.text for f in unknown if f in derived(unknown, known, sentence)] == worked_out


@pytest.mark.parametrize(
    ("quoted", "sentence"),
    [
        ("年付专业版 468 元/年", "专业版折合 38 元/月"),
        ("不得超过主合同标的额的百分之二十", "标的额 10 万元的，定金最多 3 万元"),
        ("每月 39 元，9 个月共 351 元", "退 9 个月，共 315 元"),
        ("免费版 1 名，专业版最多 3 名", "专业版最多 4 名"),
    ],
)
def test_wrong_arithmetic_is_not_accepted(quoted: str, sentence: str) -> None:
    known = find_figures(quoted)
    unknown = [f for f in find_figures(sentence) if standing(f, known) != "same" and not f.weak]
    assert derived(unknown, known, sentence) == set()


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=99_999_999))
def test_chinese_numerals_round_trip(number: int) -> None:
    assert han_number(_han(number)) == number


@settings(deadline=None)
@given(st.integers(min_value=0, max_value=10**9), st.sampled_from(["{:,}", "{}"]))
def test_digits_are_read_with_and_without_separators(number: int, form: str) -> None:
    assert number_value(form.format(number)) == number


@settings(deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_without_error_and_within_its_bounds(text: str) -> None:
    figures = find_figures(text)
    assert len(even_fold(text)) == len(text)
    ends = 0
    for figure in figures:
        assert ends <= figure.start < figure.end <= len(text)
        assert compare(figure, figure) == "same"
        ends = figure.end


def test_english_number_words() -> None:
    assert english_number("nineteen") == 19
    assert english_number("two hundred and fifty") == 250
    assert english_number("three million") == Fraction(3_000_000)
    assert english_number("hundred days") is None


def _han(number: int) -> str:
    """A number below one hundred million in Chinese, as people write it."""
    if number == 0:
        return "零"
    digits, scales = "零一二三四五六七八九", ("", "十", "百", "千")

    def below_myriad(value: int) -> str:
        out, gap = "", False
        for place in (3, 2, 1, 0):
            digit = value // 10**place % 10
            if digit:
                out += ("零" if gap and out else "") + digits[digit] + scales[place]
                gap = False
            else:
                gap = True
        return out

    high, low = divmod(number, 10_000)
    if not high:
        return below_myriad(low)
    if not low:
        return below_myriad(high) + "万"
    return below_myriad(high) + "万" + ("零" if low < 1000 else "") + below_myriad(low)


def test_a_part_that_fills_the_greater_unit_is_a_figure_of_its_own() -> None:
    assert [f.text for f in find_figures("提供 7 天 24 小时服务")] == ["7 天", "24 小时"]
    assert [f.text for f in find_figures("第 3 年 6 个月内")] == ["第 3 年", "6 个月"]
    assert [f.text for f in find_figures("一周五天，一天八小时")] == ["一周", "五天", "一天", "八小时"]


def test_a_floor_is_no_ceiling() -> None:
    assert [find_figures(t)[0].bound for t in ("下限为 100 次", "上限为 100 次", "至少请求 60 次")] == [
        ">=",
        "<=",
        ">=",
    ]


@pytest.mark.parametrize(
    ("claimed", "quoted"),
    [
        ("100 平方米收 500 元", "每平方米 5 元"),
        ("剩余 70%", "定金 30%"),
    ],
)
def test_rates_by_measure_and_remainders_are_worked_out(claimed: str, quoted: str) -> None:
    figures = find_figures(claimed)
    assert derived(figures, find_figures(quoted), claimed) == set(figures)


def test_a_wrong_result_is_not_worked_out() -> None:
    quoted = find_figures("每平方米 5 元")
    assert derived(find_figures("100 平方米收 600 元"), quoted, "100 平方米收 600 元") == set()
