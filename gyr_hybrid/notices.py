"""Warnings that know both languages, for those who warn before they know who asks."""

from __future__ import annotations


class Notice(str):
    """An English sentence that also has a Chinese one.

    It is an ordinary text wherever nobody asked for a language.

    >>> notice = Notice("nothing found", zh="没有找到")
    >>> notice, said(notice, "zh"), said("other", "zh")
    ('nothing found', '没有找到', 'other')
    """

    __slots__ = ("zh",)
    zh: str

    def __new__(cls, en: str, *, zh: str) -> Notice:
        notice = super().__new__(cls, en)
        notice.zh = zh
        return notice

    def __getnewargs_ex__(self) -> tuple[tuple[str], dict[str, str]]:
        return (str(self),), {"zh": self.zh}


def said(warning: str, language: str) -> str:
    """A warning in a language, ``zh`` or ``en``; as it is where it has but one."""
    return warning.zh if language == "zh" and isinstance(warning, Notice) else str(warning)
