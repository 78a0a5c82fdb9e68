"""Markdown and plain text files."""

from __future__ import annotations

from gyr_hybrid.parsing.decoding import decode
from gyr_hybrid.parsing.formats.reading import MARKDOWN, PLAIN, FileReadings, Reading
from gyr_hybrid.parsing.front_matter import split_front_matter


def read_markdown(data: bytes) -> FileReadings:
    return _read(data, MARKDOWN)


def read_plain(data: bytes) -> FileReadings:
    return _read(data, PLAIN)


def _read(data: bytes, mimetype: str) -> FileReadings:
    front = split_front_matter(decode(data))
    return FileReadings((Reading(front.body, mimetype, dict(front.metadata), front.body_line),))
