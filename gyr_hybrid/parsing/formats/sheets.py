"""Spreadsheets and CSV: tables of codes, questions with answers, records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time
from importlib import import_module
from itertools import islice
from typing import Any

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.decoding import decode
from gyr_hybrid.parsing.formats.archives import check_archive
from gyr_hybrid.parsing.formats.markdown_text import MarkdownText, table_lines
from gyr_hybrid.parsing.formats.reading import FileReadings, Reading

_QUESTIONS = frozenset(("问题", "提问", "问", "常见问题", "用户问题", "question", "questions", "q"))
_ANSWERS = frozenset(("答案", "回答", "答", "答复", "回复", "解答", "answer", "answers", "a"))
_ABOUT = frozenset(
    """序号 编号 分类 类别 类目 类型 栏目 主题 标签 关键词 关键字 备注 注 部门 负责人 责任人 作者 维护人 创建人 更新人 状态 优先级
    创建时间 创建日期 更新时间 更新日期 修改时间 最后更新 id no no. # category categories type topic tag tags keyword keywords note notes
    remark remarks comment comments department owner author status priority created updated date""".split()
)
"""Columns of a list of questions that say something about an entry and are no part of its answer."""
# A row of more characters than this is written as a record, `列：值` a line, not as a line of a table.
_ROW_CHARS = 160
_MAX_CELLS = 5_000_000
_MERGED_BYTES = (
    8 << 20
)  # beyond this size merged cells are not looked for: that needs the whole sheet in memory

Row = tuple[int, list[str]]
"""1-based number in the sheet, and its cells as text."""


def read_csv(data: bytes) -> FileReadings:
    text = decode(data)
    try:
        dialect: Any = csv.Sniffer().sniff(text[:65536], delimiters=",;\t|")
    except csv.Error:
        dialect = csv.excel
    try:
        rows = list(enumerate(csv.reader(io.StringIO(text, newline=""), dialect), 1))
    except csv.Error as error:
        raise DocumentError(f"The file is not valid CSV: {error}.") from error
    written = MarkdownText()
    _write_sheet(written, rows)
    return _readings(written)


def read_xlsx(data: bytes) -> FileReadings:
    load_workbook = import_module("openpyxl").load_workbook
    check_archive(data)
    merged = len(data) <= _MERGED_BYTES
    workbook = load_workbook(io.BytesIO(data), read_only=not merged, data_only=True)
    written, cells = MarkdownText(), 0
    try:
        for sheet in workbook.worksheets:
            if sheet.sheet_state != "visible":
                continue
            spread = _merged(sheet) if merged else {}
            rows: list[Row] = []
            for number, values in enumerate(sheet.iter_rows(values_only=True), 1):
                cells += len(values)
                if cells > _MAX_CELLS:
                    raise DocumentError(f"The workbook has more than {_MAX_CELLS:,} cells; split it.")
                row = [_text(spread.get((number, column), value)) for column, value in enumerate(values, 1)]
                rows.append((number, row))
            if any(any(row) for _, row in rows):
                written.place("sheet", sheet.title)
                written.heading(2, sheet.title)
                _write_sheet(written, rows)
    finally:
        workbook.close()
    return _readings(written)


def _readings(written: MarkdownText) -> FileReadings:
    if not written.text():
        raise DocumentError("The file has no cells with text; leave it out.")
    return FileReadings((Reading(written.text(), places=written.places()),))


def _merged(sheet: Any) -> dict[tuple[int, int], object]:
    """Value of each cell that a merged range covers."""
    spread: dict[tuple[int, int], object] = {}
    for area in sheet.merged_cells.ranges:
        value = sheet.cell(area.min_row, area.min_col).value
        if value is not None and area.size["rows"] * area.size["columns"] <= 10_000:
            spread.update(dict.fromkeys(_cells(area), value))
    return spread


def _cells(area: Any) -> Iterator[tuple[int, int]]:
    # A title merged over the whole width stays one cell; a category merged downwards is that of each row.
    columns = (area.min_col,) if area.min_row == area.max_row else range(area.min_col, area.max_col + 1)
    return ((row, column) for row in range(area.min_row, area.max_row + 1) for column in columns)


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "是" if value else "否"
    if isinstance(value, datetime):
        at_midnight = value.time() == time()
        return value.date().isoformat() if at_midnight else value.isoformat(" ", "seconds")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, float):
        return f"{value:.15g}"
    return str(value)


def _write_sheet(written: MarkdownText, rows: Sequence[Row]) -> None:
    rows = [(number, [cell.strip() for cell in row]) for number, row in rows]
    rows = [(number, row) for number, row in rows if any(row)]
    head = next((i for i, (_, row) in enumerate(rows) if sum(map(bool, row)) > 1), len(rows))
    for number, row in rows[:head]:  # titles and notes above the table
        written.place("row", str(number))
        written.paragraph(next(filter(None, row)))
    if head == len(rows):
        return
    names, body = rows[head][1], rows[head + 1 :]
    columns = [i for i in range(len(names)) if names[i] or any(len(row) > i and row[i] for _, row in body)]
    names = [names[i] for i in columns]
    body = [(number, [row[i] if i < len(row) else "" for i in columns]) for number, row in body]
    folded = [name.casefold() for name in names]
    question = next((i for i, name in enumerate(folded) if name in _QUESTIONS), None)
    answer = next((i for i, name in enumerate(folded) if name in _ANSWERS), None)
    if question is not None and answer is not None:
        _write_answers(written, names, body, question, answer)
    elif any("\n" in cell for _, row in body for cell in row) or _is_wide(body):
        _write_records(written, names, body)
    else:
        written.place("row", str(rows[head][0]))
        _write_table(written, names, body)


def _is_wide(body: Sequence[Row]) -> bool:
    sizes = [sum(map(len, row)) for _, row in islice(body, 1000)]
    return bool(sizes) and sum(sizes) > _ROW_CHARS * len(sizes)


def _write_table(written: MarkdownText, names: list[str], body: Sequence[Row]) -> None:
    head = table_lines([names, ["-"]])
    if not head:
        return
    written.row(head[0], first=True)
    written.row(head[1])
    for number, row in body:
        written.place("row", str(number))
        written.row(table_lines([row, ["-"]])[0])


def _write_answers(
    written: MarkdownText, names: list[str], body: Sequence[Row], question: int, answer: int
) -> None:
    """A section per row; what a column says about the entry is metadata of its section, other columns follow the answer."""
    more = [i for i in range(len(names)) if names[i] and i not in (question, answer)]
    about = [i for i in more if names[i].casefold() in _ABOUT]
    for number, row in body:
        written.place("row", str(number))
        for i in about:
            written.place(names[i], row[i])
        written.heading(3, row[question] or "?")
        written.paragraph(row[answer])
        written.paragraph("\n".join(f"{names[i]}：{row[i]}" for i in more if row[i] and i not in about))
    for i in about:  # no longer so in the next sheet
        written.place(names[i], "")


def _write_records(written: MarkdownText, names: list[str], body: Sequence[Row]) -> None:
    for number, row in body:
        written.place("row", str(number))
        written.heading(3, next(filter(None, row)))
        for name, cell in zip(names, row, strict=True):
            if cell:
                written.paragraph(f"{name}：{cell}" if name else cell)
