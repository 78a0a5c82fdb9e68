"""Refusals: the text by reason and language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from llama_index.core.schema import NodeWithScore

from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.response import RefusalReason, UnknownIdentifier

_TEXTS: dict[Language, dict[RefusalReason, str]] = {
    "zh": {
        "empty_question": "请输入要问的问题。",
        "small_talk": "您好！请直接写下想了解的问题，我会查找资料并注明出处。如需人工服务，请联系工作人员。",
        "unknown_identifier": "资料中没有 {codes}，请核对后再问。",
        "no_evidence": "资料中没有能回答这个问题的内容。",
        "model_refused": "资料中没有提到这个问题的答案。",
        "not_supported": "没有得到能由资料核实的回答，因此不作答。",
    },
    "en": {
        "empty_question": "Please enter a question.",
        "small_talk": "Hello! Please write what you want to know; I look it up and name the source. "
        "For a person, please contact the staff.",
        "unknown_identifier": "The documents do not contain {codes}; please check it and ask again.",
        "no_evidence": "The documents contain nothing that answers this question.",
        "model_refused": "The documents do not say.",
        "not_supported": "No answer could be verified against the documents, so none is given.",
    },
}
_NEAR: dict[Language, str] = {"zh": "相近的有：{suggestions}。", "en": " Similar ones: {suggestions}."}

_CLOSEST: dict[Language, str] = {"zh": "最接近的内容：{nearest}", "en": " Closest: {nearest}"}
_WEAK: dict[Language, str] = {
    "zh": "资料中未见直接答案，最接近的是：",
    "en": "The documents hold no direct answer; closest is:",
}
TITLE = 80
"""Most characters of a heading path in a refusal."""


def weak_opening(language: Language) -> str:
    """What opens a passage whose evidence is only a little above the border."""
    return _WEAK[language]


def weak_warning(language: Language) -> str:
    """One line that says the same."""
    if language == "zh":
        return "资料中未见直接答案，所示为最接近的内容"
    return "the documents hold no direct answer; what is shown comes closest"


def near_misses(nodes: Sequence[NodeWithScore], labels: Sequence[str], language: Language) -> str:
    """Sections by heading path and label; headings without what could pass for a label or drives a reader."""
    named = []
    for found, label in zip(nodes, labels, strict=False):
        meta = found.node.metadata
        path = meta.get("header_path") or []
        parts = [path] if isinstance(path, str) else list(map(str, path))
        title = str(meta.get("title") or "")
        if title and title not in parts:
            parts.insert(0, title)
        text = re.sub(r"<\|[^|]*\|>|[\[\]【】［］〔〕《》]", " ", " > ".join(parts))
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        text = text if len(text) <= TITLE else text[: TITLE - 1] + "…"
        marks = "《{}》" if language == "zh" else "“{}” "
        named.append((marks.format(text) if text else "") + label)
    return ("、" if language == "zh" else ", ").join(named)


def refusal_message(
    reason: RefusalReason,
    language: Language,
    unknown: Sequence[UnknownIdentifier],
    custom: str | None = None,
    *,
    nearest: str = "",
) -> str:
    """The text shown instead of an answer; ``custom`` may hold ``{codes}``, ``{suggestions}`` and ``{nearest}``.

    Where there is nothing to put into a field of ``custom``, our own text is shown.

    >>> refusal_message("unknown_identifier", "zh", [UnknownIdentifier("E9999", ("E1042",))])
    '资料中没有 E9999，请核对后再问。相近的有：E1042。'
    """
    comma = "、" if language == "zh" else ", "
    codes = comma.join(dict.fromkeys(u.text for u in unknown))
    suggestions = comma.join(dict.fromkeys(s for u in unknown for s in u.suggestions))
    if custom is not None and _has_all(custom, codes=codes, suggestions=suggestions, nearest=nearest):
        text = custom
    else:
        text = _TEXTS[language][reason]
        if reason == "unknown_identifier" and suggestions:
            text += _NEAR[language]
        if nearest:
            text += _CLOSEST[language]
    fields = {"{codes}": codes, "{suggestions}": suggestions, "{nearest}": nearest}
    return re.sub(r"\{(?:codes|suggestions|nearest)\}", lambda field: fields[field.group()], text)


def _has_all(template: str, **fields: str) -> bool:
    return all(value for name, value in fields.items() if f"{{{name}}}" in template)


def unanswered_warning(part: str, language: Language) -> str:
    """One line for a part of the question that the documents do not answer."""
    if language == "zh":
        return f"资料中没有能回答“{part}”的内容"
    return f"the documents contain nothing that answers “{part}”"


def unknown_warning(unknown: Sequence[UnknownIdentifier], language: Language) -> str:
    """One line that names the codes that no visible document bears."""
    parts = []
    for code in unknown:
        near = ("、" if language == "zh" else ", ").join(code.suggestions)
        if language == "zh":
            parts.append(f"{code.text}（相近的有 {near}）" if near else code.text)
        else:
            parts.append(f"{code.text} (similar: {near})" if near else code.text)
    return (
        f"资料中没有 {'、'.join(parts)}" if language == "zh" else f"not in the documents: {', '.join(parts)}"
    )


def family_warning(prefix: str, members: int, shown: int, language: Language) -> str:
    """One line that says how many codes of a family the sections found bear."""
    if language == "zh":
        return f"{prefix} 开头的编码有 {members} 个，检索到的章节里有 {shown} 个；可调大 top_k"
    return f"{members} codes begin with {prefix}, the sections found bear {shown}; a larger top_k shows more"
