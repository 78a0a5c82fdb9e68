"""Tell the units of an answer that claim something from those that do not, and take claims apart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from gyr_hybrid.analysis import split_sentences
from gyr_hybrid.answering.context.citations import Parsed
from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.prompts import is_pleasantry
from gyr_hybrid.verification import Quote

_LEAD_IN = re.compile(r"[:：]\s*[*_]*$")
_REFERENCES = re.compile(
    r"^\W*(?:参考|引用|资料|信息|内容)?(?:来源|出处|资料|文献|文档)(?:如下)?\W*$|^\W*(?:sources?|references?|citations?)\W*$",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?<=[；;])(?=\s*\S)")
_DANGLING = re.compile(r"[不未没的和与或及在为是、，,:：]$|(?<![a-z])(?:not|and|or|the|an?|of|to)$")
_LINK = re.compile(r"(?P<image>!)?\[(?P<text>[^\[\]\n]{0,300})\]\((?P<url>[^()\s]*)\)")
_ENDED = re.compile(r"[。！？；…!?;.：:][”’」』》）)\]\"'*_]*$")


def silent_reason(parsed: Parsed, context: Context, has_content: Callable[[str], bool]) -> str | None:
    """Why a unit is left out without a word: it says nothing, or only where the answer is from; None if it claims."""
    text = parsed.text
    if not text or is_pleasantry(text) or not has_content(plain(text)):
        return "no content"
    if _REFERENCES.match(text) or (parsed.cited and _names_source(parsed, context)):
        return "names its sources only"
    return None


def is_lead_in(text: str) -> bool:
    """Whether a sentence introduces what follows.

    >>> is_lead_in("步骤如下："), is_lead_in("企业版：不限。")
    (True, False)
    """
    return _LEAD_IN.search(text) is not None


def is_unfinished(text: str) -> bool:
    """Whether a sentence stops without final punctuation."""
    return _ENDED.search(text) is None


def stops_inside(text: str, quotes: Iterable[Quote]) -> bool:
    """Whether a sentence without final punctuation is the beginning of a quoted clause: ``月付套餐不``."""
    if not is_unfinished(text):
        return False
    words = text.strip()
    for quote in quotes:
        at = quote.text.find(words)
        if at >= 0 and quote.text[at + len(words) : at + len(words) + 1].isalnum():
            return True
    return _DANGLING.search(words) is not None


def without_links(text: str, known: Callable[[str], bool]) -> str:
    """Text without images, and without the addresses of links that no source has."""
    return _LINK.sub(
        lambda m: m.group() if not m["image"] and known(m["url"]) else "" if m["image"] else m["text"], text
    )


def parts(text: str) -> list[str]:
    """Sentences, and clauses between semicolons, of one unit; joined they are the text.

    >>> parts("支付宝 3 天；银行卡 7 天。原路退回。")
    ['支付宝 3 天；', '银行卡 7 天。', '原路退回。']
    """
    spans = [text[start:end] for start, end in split_sentences(text)]
    return [part for span in spans for part in _CLAUSE.split(span) if part.strip()]


def plain(text: str) -> str:
    """Text without Markdown's emphasis."""
    return re.sub(r"\*\*|__|`", "", text).strip()


def _names_source(parsed: Parsed, context: Context) -> bool:
    """Whether a unit is nothing but the title or heading of what it cites, as in a list of sources."""
    words = re.sub(r"\W+", "", parsed.text)
    for node_id in parsed.cited:
        metadata = context.node(node_id).metadata
        path = metadata.get("header_path") or []
        names = [*([path] if isinstance(path, str) else path), metadata.get("title"), metadata.get("source")]
        bare = [re.sub(r"\W+", "", str(name)) for name in names if name]
        if words in bare or words in ("".join(bare[:end]) for end in range(1, len(bare) + 1)):
            return True
    return False


def cells_of(row: str) -> list[str]:
    """The cells of a row as a model writes it."""
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
