"""A made-up catalogue of look-alike part numbers and error codes, and questions about it, from a fixed seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from llama_index.core.schema import Document

COLOURS = {"BLK": "黑色", "WHT": "白色", "RED": "红色", "BLU": "蓝色", "GRN": "绿色", "GRY": "灰色"}
SIZES = {"S": "小号", "M": "中号", "L": "大号", "XL": "加大号"}
SHIPPED_NUMBERS = {"1042", "1043", "2017", "3001", "4029"}
"""In error codes of the knowledge bases that stand beside the catalogue."""
TWINS = 20
"""Most pairs of codes that only their separators tell apart."""
PARTS = ("主板", "电源", "风扇", "传感器", "控制阀", "读卡器", "滤网", "电机", "显示屏", "网关")
FAULTS = ("电压过低", "通信超时", "温度过高", "校验失败", "转速异常", "压力不足", "存储已满", "证书过期")
REMEDIES = ("检查接线后重启", "更换保险丝", "清理滤网并复位", "升级固件", "重新登录后再试", "联系现场工程师")


@dataclass(frozen=True, slots=True)
class Entry:
    """A code and the line of its document that defines it."""

    code: str
    doc_id: str
    line: str
    """Empty when the whole document is about it."""
    is_error: bool


@dataclass(frozen=True, slots=True)
class Catalogue:
    documents: list[Document]
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    form: str
    """How the code is written, or ``family``, ``double``, ``ambiguous``, ``number``, ``absent``, ``control``."""
    wanted: tuple[Entry, ...] = ()


def make_catalogue(size: int, seed: int = 1042) -> Catalogue:
    """About ``size`` codes: half part numbers, half error codes; some by heading, some in tables of codes."""
    rng = random.Random(seed)
    documents: list[Document] = []
    entries: list[Entry] = []
    models = _models(rng)
    while len(entries) < size // 2:
        if len(documents) % 10 == 9:
            documents.append(_article(f"{next(models)}-A", entries, rng))
        else:
            documents.append(_product(next(models), entries, rng, table=len(documents) % 2 == 0))
    prefixes = [*"EFHKLTUW", "SVC-", "NET-", "PAY-"]
    block = 0
    while len(entries) < size:
        shared = block - 1 if block % 10 == 9 else block  # some numbers stand under two prefixes
        prefix, room = prefixes[block % len(prefixes)], size - len(entries)
        documents.append(_errors(prefix, 1000 + 40 * shared, entries, rng, table=block % 3 == 0, room=room))
        block += 1
    for number in range(12, 12 + max(1, min(TWINS, size // 500))):
        first, second = str(number)
        pair = (f"QZ-{number}-3", f"QZ-{first}-{second}3")
        doc_id = f"twins-{number}"
        text = "# 易混型号\n\n" + "\n\n".join(
            f"## {code}\n\n{code} 是{part}的型号。"
            for code, part in zip(pair, rng.sample(PARTS, 2), strict=True)
        )
        documents.append(Document(text=text, id_=doc_id))
        entries += [Entry(code, doc_id, f"## {code}", False) for code in pair]
    return Catalogue(documents, entries)


def _models(rng: random.Random) -> Iterator[str]:
    letters = "ABCDFGHJKLMNPRSTVWX"
    for number in range(10, 1000):
        for a, b in rng.sample([*product(letters, repeat=2)], 40):
            yield f"{a}{b}-P{number}"


def _article(code: str, entries: list[Entry], rng: random.Random) -> Document:
    """A page about one part number, which its sections do not repeat."""
    part = rng.choice(PARTS)
    entries.append(Entry(code, code.lower(), "", False))
    text = (
        f"# {code}\n\n## 规格\n\n{part}，重量 {rng.randint(100, 999)} 克，随 {code[:-2]} 系列供货。\n\n"
        f"## 常见故障\n\n{rng.choice(FAULTS)}：{rng.choice(REMEDIES)}。\n"
    )
    return Document(text=text, id_=code.lower())


def _product(model: str, entries: list[Entry], rng: random.Random, *, table: bool) -> Document:
    part = rng.choice(PARTS)
    doc_id = model.lower()
    variants = [(f"{model}-{c}-{s}", COLOURS[c], SIZES[s]) for c, s in product(COLOURS, SIZES)]
    head = f"# {model} {part}\n\n## 概述\n\n{model} 系列{part}适用于机房与车间，保修 {rng.randint(1, 5)} 年。\n\n"
    if table:
        rows = [
            f"| {code} | {colour} | {size} | {rng.randint(100, 999)} 克 |" for code, colour, size in variants
        ]
        body = "## 型号表\n\n| 型号 | 颜色 | 尺码 | 重量 |\n|---|---|---|---|\n" + "\n".join(rows) + "\n"
        entries += [Entry(code, doc_id, row, False) for (code, _, _), row in zip(variants, rows, strict=True)]
    else:
        near = [variants[i - 1][0] for i in range(len(variants))]
        body = "".join(
            f"## {code}\n\n{colour}{size}{part}，重量 {rng.randint(100, 999)} 克，可与 {other} 混放。\n\n"
            for (code, colour, size), other in zip(variants, near, strict=True)
        )
        entries += [Entry(code, doc_id, f"## {code}\n", False) for code, _, _ in variants]
    return Document(text=head + body, id_=doc_id)


def _errors(
    prefix: str, start: int, entries: list[Entry], rng: random.Random, *, table: bool, room: int
) -> Document:
    codes = [f"{prefix}{n}" for n in range(start, start + 40)][:room]
    doc_id = f"errors-{prefix.lower()}{start}"
    described = [(code, rng.choice(FAULTS), rng.choice(REMEDIES)) for code in codes]
    if table:
        rows = [f"| {code} | {fault} | {remedy} |" for code, fault, remedy in described]
        text = (
            f"# 错误码表 {start} 段\n\n## 列表\n\n| 错误码 | 含义 | 处理 |\n|---|---|---|\n"
            + "\n".join(rows)
            + "\n"
        )
        entries += [Entry(code, doc_id, row, True) for code, row in zip(codes, rows, strict=True)]
    else:
        text = f"# 设备错误 {start} 段\n\n" + "".join(
            f"## 错误码 {code}\n\n{fault}时出现。{remedy}；若仍出现 {codes[i - 1]}，请报修。\n\n"
            for i, (code, fault, remedy) in enumerate(described)
        )
        entries += [Entry(code, doc_id, f"## 错误码 {code}\n", True) for code in codes]
    return Document(text=text, id_=doc_id)


def _wide(code: str) -> str:
    return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in code)


def _joined(code: str, by: str) -> str:
    """Separators written as ``by``; a code without any gets it at its letter–digit border."""
    if "-" in code:
        return code.replace("-", by)
    border = next(i for i, c in enumerate(code) if c.isdigit())
    return code[:border] + by + code[border:]


def _border(code: str) -> str:
    """A blank where letters meet digits."""
    return "".join(" " + c if i and c.isdigit() and code[i - 1].isalpha() else c for i, c in enumerate(code))


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as is": lambda code: code,
    "lower case": str.lower,
    "full width": _wide,
    "en dash": lambda code: _joined(code, "–"),
    "space": lambda code: _joined(code, " "),
    "underscore": lambda code: _joined(code, "_"),
    "dot": lambda code: _joined(code, "."),
    "no separator": lambda code: code.replace("-", ""),
    "letter–digit spaced": _border,
    "glued": lambda code: f"设备提示{code}时怎么处理",
}

ASKS = ("{}", "{} 是什么", "{} 怎么处理？", "请问{}，怎么办")


def questions(catalogue: Catalogue, per_spelling: int, seed: int = 7) -> list[Question]:
    """Known codes in ten spellings, doubles, families, an ambiguous key, numbers with a class word, absent codes."""
    rng = random.Random(seed)
    twins: dict[str, list[Entry]] = {}
    known: list[Entry] = []
    for entry in catalogue.entries:
        if entry.doc_id.startswith("twins"):
            twins.setdefault(entry.doc_id, []).append(entry)
        else:
            known.append(entry)
    asked: list[Question] = []
    for form, spell in SPELLINGS.items():
        for i, entry in enumerate(rng.sample(known, min(per_spelling, len(known)))):
            ask = "{}" if form == "glued" else ASKS[i % len(ASKS)]
            asked.append(Question(ask.format(spell(entry.code)), form, (entry,)))
    for _ in range(per_spelling):
        a, b = rng.sample(known, 2)
        asked.append(Question(f"{a.code} 和 {b.code} 有什么区别", "double", (a, b)))
    products = sorted({entry.doc_id for entry in known if not entry.is_error and entry.line})
    for doc_id in rng.sample(products, min(per_spelling, len(products))):
        members = tuple(e for e in known if e.doc_id == doc_id)
        asked.append(Question(f"{doc_id.upper()} 系列有哪些", "family", members))
    asked += [
        Question(f"{pair[0].code.replace('-', '')} 是什么", "ambiguous", tuple(pair))
        for pair in twins.values()
    ]
    numbers: dict[str, list[Entry]] = {}
    for entry in known:
        if entry.is_error:
            numbers.setdefault(entry.code.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-"), []).append(entry)
    unique = [
        (number, found[0])
        for number, found in numbers.items()
        if len(found) == 1 and number not in SHIPPED_NUMBERS
    ]
    for number, entry in rng.sample(unique, min(per_spelling, len(unique))):
        asked.append(Question(f"错误码{number}怎么处理", "number", (entry,)))
    return asked + [Question(text, "absent") for text in _absent(known, per_spelling * 2, rng)]


def _absent(known: Sequence[Entry], count: int, rng: random.Random) -> list[str]:
    """Codes one or two digits away from a known one that stand nowhere, in the spellings that keep one piece."""
    taken = {entry.code.replace("-", "") for entry in known}
    spell = [SPELLINGS[name] for name in ("as is", "lower case", "full width", "en dash", "underscore")]
    found: list[str] = []
    while len(found) < count:
        code = rng.choice(known).code
        places = [i for i, c in enumerate(code) if c.isdigit()]
        chars = list(code)
        for place in rng.sample(places, min(2, len(places))):
            chars[place] = rng.choice("0123456789")
        made = "".join(chars)
        if made.replace("-", "") not in taken:
            written = spell[len(found) % len(spell)](made) if "-" in made or len(found) % 5 < 3 else made
            ask = (*ASKS, "设备提示{}时怎么处理")[len(found) % 4 + (len(found) % 7 == 0)]
            found.append(ask.format(written))
    return found


NATURAL = (
    "年付套餐买错了能退款吗",
    "发票开错了还能改吗",
    "专业版最多几个人",
    "退款几天能到账",
    "重复扣款了怎么办",
    "优惠码可以叠加使用吗",
    "银行流水支持哪些格式",
    "怎么邀请成员",
    "更换手机号需要什么",
    "注销账号后数据什么时候删除",
    "数据存在哪里",
    "导出报表一天可以几次",
    "汇率多久更新一次",
    "降级以后账本会怎样",
    "自动续费什么时候扣款",
    "怎么申请开发票",
    "记账员有什么权限",
    "两步验证有哪几种",
    "开放 API 谁能用",
    "个人用户应该选哪个套餐",
    "升级要补差价吗",
    "备份保留多少天",
    "邀请链接几天有效",
    "下单后多久能发货",
    "签收后几天内可以退货",
    "质量问题退货运费谁出",
    "定制商品能退吗",
    "运输途中损坏了怎么办",
    "偏远地区发货会慢吗",
    "退回的商品要什么条件",
)
ASIDES = (
    "2026年10月买的，",
    "我用的是 iPhone15，",
    "在 Windows 11 上操作，",
    "花了 1,280.00 元，",
    "浏览器是 Chrome 128，",
    "从 v3.5.1 升级以后，",
    "用 USB-C 连接，",
    "公司在 5G 网络下，",
    "数据库是 MySQL 8.0，",
    "按 GPT-4 的建议，",
    "电脑是 ThinkPad-X1，",
    "2024/11/11 下的单，",
    "打印机是 HP-M1136，",
    "订单号 20261011000123，",
    "对接的是 SAP-ERP3，",
)
OPENINGS = ("", "请问", "你好，想问一下", "帮我看看，", "急！", "麻烦问下")


def controls() -> list[Question]:
    """Questions that the shipped knowledge bases answer.

    A third carries years, amounts, versions, order numbers and code-shaped words of which no document knows, but
    on which the question does not hang.
    """
    texts = [opening + text for opening in OPENINGS for text in NATURAL]
    rng = random.Random(3)
    texts += [aside + text for aside in ASIDES for text in rng.sample(NATURAL, 6)]
    return [Question(text, "control") for text in texts]
