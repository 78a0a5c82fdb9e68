"""How much a clause claims: universal words, certainty, duty and permission, hedges."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FAMILIES: dict[str, tuple[str, str]] = {
    # family: (words that claim it, words of a source that grant it)
    "all": (
        r"所有|任何|一切|一律|统统|通通|凡是|\b(?:all|every(?! \d)|any(?! time)|everything|everyone|anyone|anything|everybody|whatsoever|worldwide|globally|anywhere|everywhere)\b|全球|全世界",
        r"所有|任何|全[部体员]|一切|一律|凡|均|都|各|每一?[个位名项笔种件条台辆]|\b(?:all|every|any(?! time)|each|everything|whole|entire|per|how often|hourly|daily|weekly|monthly|quarterly|yearly|annually|annual)\b",
    ),
    "the whole": (
        r"全部",
        r"所有|任何|全[部体员额数]|一切|一律|凡|均|都|各|每一?[个位名项笔种件条台辆]|\b(?:all|every|entire|full|whole)\b",
    ),
    "each": (r"每一?[个项笔次种类](?![月年天周]|[一-龥]?\d)", r"每|/|各|单|所有|任何|都|均|次"),
    "always": (
        r"永久|永远|永不|终身|终生|始终|一直|随时|任何时候|全天候|无时无刻|\b(?:always|forever|permanently|lifetime|for life|at any time|whenever|at all times|never)\b",
        r"永久|永远|永不|终身|终生|始终|一直|随时|任何时候|全天|24 ?小时|\b(?:always|forever|permanently|lifetime|life|at any time|any time|whenever|never)\b",
    ),
    "at once": (
        r"立即|立刻|马上|即刻|当场|瞬间|秒到|实时|\b(?:immediately|instantly|at once|right away|straight away)\b",
        r"立即|立刻|马上|即刻|当场|瞬间|实时|即时|\b(?:immediate|immediately|instantly|at once|right away|straight away|at a time|at the same time|simultaneously)\b",
    ),
    "certain": (
        r"一定|必然|必定|绝对|保证|确保|肯定|百分之?百|绝不|决不|从不|从来|\b(?:guaranteed?|guarantees|certainly|definitely|surely|in every respect|without exception)\b",
        r"一定|必然|必定|绝对|保证|确保|肯定|百分之?百|100 ?%|绝不|决不|不得|\b(?:guaranteed?|guarantees|certainly|definitely|surely)\b",
    ),
    "regardless": (
        r"无论|不论|不管|即使|即便|哪怕|任意|随意|随便|\b(?:regardless|no matter|even|whatever|whichever|whether or not)\b",
        r"无论|不论|不管|即使|即便|哪怕|任意|随意|随便|\b(?:regardless|no matter|even|whatever|whichever|whether or not)\b",
    ),
    "unlimited": (
        r"无限|无条件|没有(?:任何)?(?:次数|数量|时间|金额)?限制|不限|反复|\b(?:unlimited|unconditional(?:ly)?|without (?:any )?limits?|no limits?|as often as)\b",
        r"无限|无条件|限制|限|反复|\b(?:unlimited|unconditional(?:ly)?|limits?|as often as)\b",
    ),
    "only": (
        r"只[能有限可在对供于]|仅|唯一|唯有|\b(?:only|solely|exclusively)\b",
        r"只|仅|唯|(?<!不)限|方可|才|\b(?:only|solely|exclusively|limited|just|once|single)\b",
    ),
    "completely": (
        r"完全|彻底|\b(?:completely|fully|entirely|totally|perfectly)\b",
        r"完全|彻底|全|\b(?:completely|fully|full|entirely|totally|perfectly)\b",
    ),
    "free": (
        r"免费|不收费|不要钱|无需付费|\b(?:free|no charge|at no cost|no extra cost|free of charge)\b(?!-)",
        r"免|不收|无需付|赠送|附赠|\b0\s?元|\b(?:free|no cost|no charge|no fee|without (?:a |any )?(?:charge|fee)|waived|included)\b",
    ),
    "many": (
        r"多[个次张名条笔台件人份]|若干|\b(?:several|multiple|(?<!how )many|more than one|as many)\b",
        r"多|若干|几|不限|两|[二三四五六七八九十]|[2-9]|\d\d|\b(?:several|multiple|many|more than one|unlimited|all)\b",
    ),
    "both": (r"\b(?:both)\b|两[款者种个]都", r"\b(?:both|and|all)\b|都|均|、|和|与"),
    "too": (
        r"同样|也(?=[适可能享会要须应会不])|照样|照常|依然|仍然?",
        r"同样|也|均|都|同|照样|照常|依然|仍|、|和|与|及",
    ),
}
_COMPILED = {name: (re.compile(claim), re.compile(grant)) for name, (claim, grant) in _FAMILIES.items()}

_HEDGE = re.compile(
    r"可能|一般|通常|大多|多数|往往|预计|原则上|视情况|尽量|建议|\b(?:usually|typically|generally|normally|(?<!how )often|might|recommended|expected)\b"
)
_MAY = re.compile(
    r"(?<![不才方])(?:可以|可(?![能靠见选用])|(?<![不只才方])能(?![量力耗源])|允许|有权|准许)|(?<!not )\b(?:may|can|allowed|permitted|optional)\b(?! not)"
)
_MUST = re.compile(
    r"必须|应当|应该|务必|(?<![无不])须|(?<![无不])需要?(?!求)|(?<![重主需不无])要(?![求点素么紧])|\b(?:must|shall|required|requires|have to|has to|mandatory)\b(?! not)"
)


def overclaims(claim: str, source: str) -> Iterator[str]:
    """Words of ``claim`` that claim a family of strength of which ``source`` has nothing. Both folded."""
    for claiming, granting in _COMPILED.values():
        found = claiming.search(claim)
        if found and found.group() not in source and not granting.search(source):
            yield found.group()


def is_strong(word: str) -> bool:
    """Whether a folded word claims generality, certainty or the like."""
    return any(claiming.search(word) for claiming, _ in _COMPILED.values())


def dropped_hedge(claim: str, source: str) -> Iterator[str]:
    """A hedge of ``source`` that ``claim`` leaves out."""
    found = _HEDGE.search(source)
    if found and not _HEDGE.search(claim):
        yield found.group()


_ALONE = re.compile(r"(?:仅限?|只有|only)\s?(?P<what>[^,;，；。\n]{1,40})")
_CHOICE = re.compile(r"或者?|、|和|与|及|(?<![a-z])(?:and|or)(?![a-z])")


def narrowed(claim: str, source: str) -> str:
    """An alternative of ``source`` (``仅企业版或年付专业版``) that ``claim`` drops from what it says alone. Both folded."""
    alone = _ALONE.search(source)
    if not alone or not _COMPILED["only"][0].search(claim):
        return ""
    parts = [part.strip() for part in _CHOICE.split(alone["what"])]
    if len(parts) < 2 or not any(part and part in claim for part in parts):
        return ""
    return next((p for p in parts[:-1] if p and p not in claim), "") or _unsaid_last(parts[-1], claim)


def _unsaid_last(part: str, claim: str) -> str:
    """The last alternative, which the predicate follows; two characters of it tell."""
    return "" if part[:2] in claim else part


def modality_conflict(claim: str, source: str) -> str:
    """A duty told as a permission or the other way round, or an empty string."""
    ours = (bool(_MAY.search(claim)), bool(_MUST.search(claim)))
    theirs = (bool(_MAY.search(source)), bool(_MUST.search(source)))
    if ours == (True, False) and theirs == (False, True):
        return "a duty in the source, a permission in the sentence"
    if ours == (False, True) and theirs == (True, False):
        return "a permission in the source, a duty in the sentence"
    return ""


_DURING = re.compile(r"期间|[期天日月年时钟周)]内|之内|以内|(?<![a-z])(?:during|within)(?![a-z])")
_BEFORE = re.compile(r"之前|以前|(?<![提目之以当])前(?![台端往来]|述)|(?<![a-z])before(?![a-z])")
_AFTER = re.compile(r"之后|以后|(?<=日)起|(?<![之以最然])后(?![台端缀])|(?<![a-z])after(?![a-z])")
_SIDES = (("before", _BEFORE), ("after", _AFTER), ("during", _DURING))


def sides_differ(claim: str, source: str) -> bool:
    """Whether ``claim`` says before, during or after where ``source`` says another of them. Both folded."""
    ours, theirs = ({n for n, r in _SIDES if r.search(t)} for t in (claim, source))
    return bool(ours and theirs) and not ours & theirs
