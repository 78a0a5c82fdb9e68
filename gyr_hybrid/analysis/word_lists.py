"""Word lists of an index's owner: one entry a line, ``#`` begins a comment; a bad line is named with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gyr_hybrid.errors import ConfigurationError

LEXICON_FILES = {
    "userdict.txt": "user_words",
    "code_patterns.txt": "code_patterns",
    "class_words.txt": "class_words",
    "family_words.txt": "family_words",
}
"""Lists that documents are analysed with -> the argument of an ``Analyzer`` that each gives."""
SYNONYMS_FILE, CONTRASTS_FILE = "synonyms.txt", "contrast.txt"
"""Lists that are read with every retriever and engine."""
WORD_LISTS = (*LEXICON_FILES, SYNONYMS_FILE, CONTRASTS_FILE)
"""All that may stand in the folder of an index."""

_SEPARATOR = re.compile(r"\s*[,，、;；]\s*")
_ARROW = re.compile(r"\s*(?:->|=>|→)\s*")


class Entry(NamedTuple):
    """A line that says something."""

    text: str
    place: str
    """The file, or what the list is for, and the number of the line."""

    def error(self, remedy: str) -> ConfigurationError:
        """That it cannot be read, and what to write."""
        return ConfigurationError(f"{self.place}: cannot read {self.text!r}; {remedy}")


def entries_of(lines: Iterable[str], name: str) -> list[Entry]:
    """The entries of a list, blank lines and comments left out.

    >>> entries_of(["# 渠道", "", "快线, 慢线"], "contrast.txt")
    [Entry(text='快线, 慢线', place='contrast.txt, line 3')]
    """
    stripped = ((number, line.strip()) for number, line in enumerate(lines, 1))
    return [
        Entry(line, f"{name}, line {number}")
        for number, line in stripped
        if line and not line.startswith("#")
    ]


def read_entries(path: Path) -> list[Entry]:
    """The entries of a file; none of one that is not there.

    Raises:
        ConfigurationError: it cannot be read, or is not UTF-8.
    """
    if not path.is_file():
        return []
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot read the word list: {error.strerror}") from error
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = data.count(b"\n", 0, error.start) + 1
        line = data.splitlines()[number - 1].decode("utf-8", "replace")
        raise Entry(line, f"{path}, line {number}").error("save it as UTF-8") from error
    return entries_of(text.splitlines(), str(path))


def single_words(entries: Iterable[Entry]) -> list[str]:
    """Entries of a list that holds a word a line.

    Raises:
        ConfigurationError: a line with several.
    """
    words = []
    for entry in entries:
        if _SEPARATOR.search(entry.text):
            raise entry.error("write one word a line")
        words.append(entry.text)
    return words


def groups_of(entry: Entry, example: str) -> list[list[str]]:
    """The words of ``退款, 退钱`` as one group, of ``坏, 破损 -> 质量问题`` as two.

    Args:
        example: what a good line looks like, for the complaint.

    Raises:
        ConfigurationError: an empty side, more than one arrow, or a single word without an arrow.

    >>> groups_of(Entry("坏, 破损 -> 质量问题", "synonyms.txt, line 1"), "")
    [['坏', '破损'], ['质量问题']]
    """
    sides = [[word for word in _SEPARATOR.split(side.strip()) if word] for side in _ARROW.split(entry.text)]
    if len(sides) > 2 or not all(sides) or (len(sides) == 1 and len(sides[0]) < 2):
        raise entry.error(f"write one group a line, {example}")
    return sides
