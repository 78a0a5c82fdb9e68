"""What a question asks for: a kind of figure (``用多少升`` a volume, ``多久`` a duration), or whether there is something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from gyr_hybrid.analysis import fold
from gyr_hybrid.figures import UNITS, find_figures

_QUALITIES: dict[str, tuple[str, ...]] = {
    "久": ("duration", "date"),
    "贵": ("money",),
    "重": ("weight",),
    "沉": ("weight",),
    "高": ("length", "percent"),
    "宽": ("length", "bandwidth"),
    "厚": ("length",),
    "深": ("length",),
    "远": ("length",),
    "热": ("temperature",),
    "烫": ("temperature",),
    "冷": ("temperature",),
}
"""Quality -> kinds of figures that tell it; of one that is missing here (``多大``, ``多快``) any figure does."""
_IN_WORDS: dict[str, re.Pattern[str]] = {
    "money": re.compile(r"免费|免收|全额|不收|不另收|(?<![a-z])(?:free|no charge|full refund)(?![a-z])"),
    "duration": re.compile(
        r"立即|立刻|即时|实时|随时|当[天日]|次日|隔日|永久|终身|长期|每[天日周月年]|按[天日周月年]|[上下]?[周月年]底|期满"
        r"|(?<![a-z])(?:immediately|instantly|at once|permanent\w*|lifetime|daily|weekly|monthly|yearly|any time)(?![a-z])"
    ),
}
"""Words that stand for a figure of the kind."""
_NAMES: dict[str, frozenset[str]] = {
    "money": frozenset(("价格", "价钱", "金额", "费用", "售价", "单价")),
    "duration": frozenset(("时间", "时长", "周期")),
    "weight": frozenset(("重量", "净重", "毛重")),
    "length": frozenset(("长度", "宽度", "高度", "厚度", "深度", "距离", "尺寸")),
    "volume": frozenset(("容量", "容积", "体积")),
    "size": frozenset(("容量", "大小", "体积")),
    "temperature": frozenset(("温度",)),
    "power": frozenset(("功率",)),
    "voltage": frozenset(("电压",)),
    "current": frozenset(("电流",)),
    "pressure": frozenset(("压力", "压强")),
    "frequency": frozenset(("频率",)),
    "area": frozenset(("面积",)),
    "percent": frozenset(("比例", "百分比", "占比")),
}
"""Kind -> words that say no more than that it is of this kind."""
_NO_MEASURE = frozenset({"code", "ordinal", "article"})

_BOUND = r"上限|下限|限额|限制|限值|额度|标准"
_LIMIT = rf"(?:不[能得可许要]?|别|勿)?(?:超过|超出|高于|大于|多于|低于|小于|少于)|最[多少大小高低长短快慢]|{_BOUND}|至多|至少|极限"
_MODAL = r"(?:能不能|可不可以|能否|可否|可以|能够|能|可|准|许)"
_ASKED = re.compile(
    r"(?P<price>多少钱|(?:价格|价钱|售价|单价|报价|收费标准)|(?<![a-z])(?:how much (?:does|do|is|are|will)|(?:the|what(?:'s| is)) (?:price|cost))(?![a-z]))"
    r"|(?P<span>多久|多长时间|(?<![a-z])how long(?![a-z]))"
    r"|多(?P<quality>[大小高宽厚深远重沉快慢热烫冷贵紧粗长强响])(?![量多])"
    r"|(?P<either>[贵重沉热烫吵响])(?:不(?P=either)|吗)"
    r"|(?:多少|几|(?<![a-z])how (?:many|much)(?![a-z]))\s*(?P<unit>[a-z]+|[^\s，,。？?！!的了能会可是要有才就]{0,4})"
)
_EXISTS = re.compile(
    r"(?:有没有|是否有|有无|是否支持|支不支持|支持不支持|能否支持|(?<![没所只还具])有|支持|提供|设有|配有|接受|带)"
    r"(?P<thing>[^，。？?有]{1,24}?)(?:吗|么|没有|[？?]?$)"
    r"|(?<![a-z])(?:is there|are there|do you (?:have|support|offer|accept)|does \S+ (?:have|support|offer|accept))\s+(?P<what>[^,.?]{2,40})"
)


@dataclass(frozen=True, slots=True)
class AskedFigure:
    """What a question wants to have in figures."""

    kinds: frozenset[str]
    """Kinds of `find_figures`; empty where any will do."""
    spans: tuple[tuple[int, int], ...] = ()
    """Where the folded question asks for it, limits (``不能超过``) included."""
    or_words: bool = False
    """Whether words may be meant as well: a ``标准`` is a figure here, a rule there."""

    def stands_in(self, text: str) -> bool:
        """Whether a text holds such a figure, or words that stand for one."""
        found = {figure.kind for figure in find_figures(text)} - _NO_MEASURE
        if not self.kinds:
            return bool(found)
        folded = fold(text)
        return bool(found & self.kinds) or any(
            kind in self.kinds and words.search(folded) for kind, words in _IN_WORDS.items()
        )

    def belongs(self, word: str, question: str) -> bool:
        """Whether a word of the folded question only asks for the figure.

        That is what overlaps a place where it is asked for, what it is counted by (``一次``, ``每晚``), the name of its
        kind, and a single character beside a question word: the verb or half a word (``能放多久``).
        """
        if any(word in _NAMES.get(kind, ()) for kind in self.kinds):
            return True
        if (len(word) == 1 and not self.or_words) or (word[0] in "一每几半" and word[1:] in UNITS):
            return True
        places = [found.span() for found in re.finditer(re.escape(word), question)]
        return bool(places) and all(
            any(start < last and first < end for first, last in self.spans) for start, end in places
        )


@lru_cache(maxsize=1024)
def asked_figure(question: str) -> AskedFigure | None:
    """The figure that a question asks for, None where it asks for none.

    >>> asked_figure("VG-32 用多少升").kinds, asked_figure("能报多少").kinds, asked_figure("怎么处理")
    (frozenset({'volume'}), frozenset(), None)
    """
    folded = fold(question)
    limits = [limit.span() for limit in re.finditer(_LIMIT, folded)]
    found = _ASKED.search(folded)
    if found is None:
        bound = re.search(_BOUND, folded)
        return AskedFigure(frozenset(), tuple(limits), or_words=True) if bound else None
    spans = [found.span(), *limits]
    kinds = frozenset[str]()
    if found["price"]:
        kinds = frozenset({"money"})
    elif found["span"]:
        kinds = frozenset(_QUALITIES["久"])
    elif quality := found["quality"] or found["either"]:
        kinds = frozenset(_QUALITIES.get(quality, ()))
    elif found["unit"]:
        kinds, end = _unit(found["unit"])
        spans[0] = found.start(), found.start("unit") + end
    return AskedFigure(kinds, tuple(spans))


def _unit(text: str) -> tuple[frozenset[str], int]:
    """Kinds of the unit that a text begins with, none for what is only counted; where it ends."""
    for end in range(len(text), 0, -1):
        if (unit := UNITS.get(text[:end])) is not None:
            kinds = {unit.kind, "date"} if unit.kind == "duration" else {unit.kind} - {"count"}
            return frozenset(kinds), end
    return frozenset(), 0


def only_does(word: str, question: str) -> bool:
    """Whether a word of the folded question is the one character of a verb of which the question asks if it may be done.

    >>> only_does("坐", "p10能坐公务舱吗"), only_does("酒", "能报销酒吗")
    (True, False)
    """
    return len(word) == 1 and re.search(_MODAL + re.escape(word), question) is not None


def asked_thing(question: str) -> tuple[int, int] | None:
    """Where the thing stands of which the folded question asks whether there is one.

    >>> question = "公司有健身房吗"
    >>> question[slice(*asked_thing(question))], asked_thing("健身房怎么走")
    ('健身房', None)
    """
    found = _EXISTS.search(question)
    if found is None:
        return None
    return found.span("thing") if found["thing"] else found.span("what")
