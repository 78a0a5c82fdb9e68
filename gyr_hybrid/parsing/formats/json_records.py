"""JSON and JSON Lines: each record is a document."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.decoding import decode
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText
from gyr_hybrid.parsing.formats.reading import FileReadings, Reading
from gyr_hybrid.parsing.front_matter import FrontValue

_TEXT_KEYS = ("text", "content", "body", "正文", "内容")
_QUESTION_KEYS = ("question", "问题", "q")
_ANSWER_KEYS = ("answer", "答案", "回答", "a")
_ID_KEYS = ("id", "_id")


def read_json_lines(data: bytes) -> FileReadings:
    """A record a line: its text in ``text``, ``content`` or ``body``, or ``question`` and ``answer``; all else
    is metadata. Lines that are no such record are named in the complaint."""
    records, bad = [], []
    for number, line in enumerate(decode(data).split("\n"), 1):
        if line.strip():
            try:
                records.append((number, json.loads(line)))
            except (ValueError, RecursionError) as error:
                bad.append(f"line {number}: {error}")
    return _readings(records, bad)


def read_json(data: bytes) -> FileReadings:
    """A list of records like those of `read_json_lines`, or one."""
    try:
        content = json.loads(decode(data))
    except (ValueError, RecursionError) as error:
        raise DocumentError(f"The file is not valid JSON: {error}.") from error
    records = content if isinstance(content, list) else [content]
    return _readings(list(enumerate(records, 1)), [])


def _readings(records: list[tuple[int, Any]], bad: list[str]) -> FileReadings:
    readings = []
    for number, record in records:
        reading = _reading(number, record) if isinstance(record, dict) else None
        if reading is None:
            bad.append(f"record {number} has no text ({', '.join(_TEXT_KEYS[:3])}, or question and answer)")
        else:
            readings.append(reading)
    if not readings:
        raise DocumentError(f"No record could be read: {'; '.join(bad[:3]) or 'the file is empty'}.")
    complaint = (
        f"{len(bad)} records could not be read, the others were: {'; '.join(bad[:3])}." if bad else None
    )
    return FileReadings(tuple(readings), complaint)


def _reading(number: int, record: dict[str, Any]) -> Reading | None:
    text, used = _text(record)
    if not text.strip():
        return None
    metadata = {key: _plain(value) for key, value in record.items() if key not in used and value is not None}
    for key in _ID_KEYS:
        if key in metadata:
            metadata["id"] = str(metadata.pop(key))
            break
    return Reading(text, metadata=metadata, name=str(number), body_line=number)


def _text(record: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    for key in _TEXT_KEYS:
        if isinstance(record.get(key), str):
            return record[key].replace("\r\n", "\n").replace("\r", "\n"), (key,)
    for question, answer in _pairs():
        if isinstance(record.get(question), str) and isinstance(record.get(answer), str):
            written = MarkdownText()
            written.heading(2, record[question])
            written.paragraph(record[answer])
            return written.text(), (question, answer)
    return "", ()


def _pairs() -> Iterator[tuple[str, str]]:
    return ((question, answer) for question in _QUESTION_KEYS for answer in _ANSWER_KEYS)


def _plain(value: Any) -> FrontValue:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    return json.dumps(value, ensure_ascii=False)
