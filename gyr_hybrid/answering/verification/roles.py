"""Who or what a word names: parties and roles, for which no other word may stand in."""

from __future__ import annotations

import re

from gyr_hybrid.answering.verification.lexicon import Lexicon
from gyr_hybrid.answering.verification.word_lists import ADDRESSEES, GENERAL_ROLES, LIGHT_WORDS, ROLES
from gyr_hybrid.answering.verification.words import Word

_ACTOR = re.compile(
    r".*(?:者|人|方|员|单位|公司|企业|机构|部门?|主管|总监|经理|平台|门店|商店|网点|商家|买家|卖家|教练|客户|用户|酒店|医院|银行|政府|机关|法院|学校"
    r"|物业|老师|医生|护士|校|局|委员会|科|科室|所|中心|组|室|助理|专员|版|卡|款|级|套餐|计划|会员|端|司机|乘客|患者|家长|学生|顾客"
    r"|房东|租客|业主|户主|车主|供应商|经销商|[游住访旅乘顾]客|[楼校部店站家科会院市]长|[教律医技厨讲]师|[学考医师]生|[学医法研]院|处|厅|署|馆|社|[部车卫]队)"
)
"""Endings of words for parties, bodies, plans and kinds of members."""
_NO_ACTOR = re.compile(
    r".*(?:[付退扣贷还汇存罚条欠货余尾押借赔交打][款]|[刷打办开绑]卡|[升降年等]级|[出改排]版|[极尖末]端|[场厕]所|[分重]组|[地对官双多单各]方|[布结]局|部署|[并判科各别到用相]处|[或前后]者|[好之何到益害用坏住此]处|大部|全部|内部|外部|局部|个人|本人|他人|每人|人人|无人)"
)


def light(word: Word) -> bool:
    """Whether a word adds next to nothing."""
    return word.key in LIGHT_WORDS or word.text in LIGHT_WORDS or word.text in ADDRESSEES


def is_actor(key: str, lexicon: Lexicon) -> bool:
    """Whether a word names a role, party, plan or the like, which no other word may stand in for."""
    return key in lexicon.contrasts or key in ROLES or _named(key)


def is_named(key: str) -> bool:
    """Whether a word names a role, party or plan by itself, whatever it is set against."""
    return key in ROLES or _named(key)


def is_party(key: str) -> bool:
    """Whether a word names a person or an organisation that acts."""
    return key in ROLES or (_named(key) and key not in GENERAL_ROLES)


def _named(key: str) -> bool:
    return not key.isascii() and len(key) > 1 and bool(_ACTOR.fullmatch(key)) and not _NO_ACTOR.fullmatch(key)
