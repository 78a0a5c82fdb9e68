"""What limits, denies, obliges or conditions: the closed classes of function words that a quotation may not lose.

Classes, not synonyms: ``不能`` and ``无法`` both deny, whatever else they say.
"""

from __future__ import annotations

import re
from collections import Counter

CLASSES = {
    "denies": r"不|没|无(?!线)|非(?!常)|未|否|别(?=[再把用])|勿|莫|禁|拒|\b(?:not|no|never|without|neither|nor|cannot|none)\b|n't\b",
    "only": r"仅|只|唯|除|限于|以外|\b(?:only|except|exclusively|solely|unless|other than|just)\b",
    "if": r"如果|如(?![何下图])|若|假如|要是|一旦|凡|时(?![间长刻段])|的话|\b(?:if|when|once|where|provided|unless|until|while)\b",
    "must": r"须|必|应(?![用答])|务|得(?=[^到分])|需|\b(?:must|shall|need|needs|required|requires?|has to|have to|mandatory)\b",
    "may": r"可(?!靠)|能(?![力源])|允许|\b(?:may|can|could|might|allowed|able|permitted)\b",
    "should": r"建议|推荐|尽量|宜|\b(?:should|recommend\w*|suggest\w*|advis\w*)\b",
    "all": r"都|均|全(?!称)|每|各|任何|所有|一律|\b(?:all|every|each|any|both|always|whole|entire)\b",
    "some": r"部分|有些|有的|多数|通常|一般|可能|往往|\b(?:some|most|usually|often|normally|partly|generally)\b",
    "before": r"前(?![台端])|先|\b(?:before|first|prior)\b",
    "after": r"后(?![台端])|再|然后|\b(?:after|then|later|following)\b",
    "and": r"且",
    "or": r"或|\b(?:or|either)\b",
    "limit": r"最|更|超|以上|以下|以内|之内|至少|至多|满|足(?!够)|[低高少多早晚]于|起(?!来)|\b(?:more|less|least|most|than|within|over|under|above|below|up to)\b",
}
_CLASSES = {name: re.compile(pattern) for name, pattern in CLASSES.items()}
_BINDING = tuple(_CLASSES[name] for name in ("only", "if", "denies"))
_CONDITION = re.compile(r"的[,，]|但|\b(?:but|however)\b")


def restrictions(text: str) -> Counter[str]:
    """How often each class stands in a folded text."""
    return Counter({name: n for name, pattern in _CLASSES.items() if (n := len(pattern.findall(text)))})


def restricts(text: str) -> bool:
    """Whether the part of a sentence that a quotation leaves out conditions or limits what is quoted."""
    return any(pattern.search(text) for pattern in (*_BINDING[:2], _CONDITION))
