"""Refusals: the text by reason and language."""

from __future__ import annotations

from collections.abc import Sequence

from gyr_hybrid.answering.prompts import Language
from gyr_hybrid.answering.response import RefusalReason, UnknownIdentifier

_TEXTS: dict[Language, dict[RefusalReason, str]] = {
    "zh": {
        "empty_question": "请输入要问的问题。",
        "unknown_identifier": "资料中没有 {codes}，请核对后再问。",
        "no_evidence": "资料中没有能回答这个问题的内容。",
        "model_refused": "资料中没有提到这个问题的答案。",
        "not_supported": "没有得到能由资料核实的回答，因此不作答。",
    },
    "en": {
        "empty_question": "Please enter a question.",
        "unknown_identifier": "The documents do not contain {codes}; please check it and ask again.",
        "no_evidence": "The documents contain nothing that answers this question.",
        "model_refused": "The documents do not say.",
        "not_supported": "No answer could be verified against the documents, so none is given.",
    },
}
_NEAR: dict[Language, str] = {"zh": "相近的有：{suggestions}。", "en": " Similar ones: {suggestions}."}


def refusal_message(
    reason: RefusalReason, language: Language, unknown: Sequence[UnknownIdentifier], custom: str | None = None
) -> str:
    """The text shown instead of an answer; ``custom`` may hold ``{codes}`` and ``{suggestions}``.

    Where there is nothing to put into a field of ``custom``, our own text is shown.

    >>> refusal_message("unknown_identifier", "zh", [UnknownIdentifier("E9999", ("E1042",))])
    '资料中没有 E9999，请核对后再问。相近的有：E1042。'
    """
    comma = "、" if language == "zh" else ", "
    codes = comma.join(dict.fromkeys(u.text for u in unknown))
    suggestions = comma.join(dict.fromkeys(s for u in unknown for s in u.suggestions))
    if custom is not None and _has_all(custom, codes=codes, suggestions=suggestions):
        text = custom
    else:
        text = _TEXTS[language][reason]
        if reason == "unknown_identifier" and suggestions:
            text += _NEAR[language]
    return text.replace("{codes}", codes).replace("{suggestions}", suggestions)


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
