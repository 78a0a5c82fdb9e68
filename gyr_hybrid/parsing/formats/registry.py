"""Which reader reads a file, by its extension."""

from __future__ import annotations

from importlib import import_module

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing.formats.reading import FileReadings

_TEXT, _JSON, _SHEETS = "text", "json_records", "sheets"
# extension -> (module, function, extra of this package that it needs)
_READERS: dict[str, tuple[str, str, str | None]] = {
    ".md": (_TEXT, "read_markdown", None),
    ".markdown": (_TEXT, "read_markdown", None),
    ".txt": (_TEXT, "read_plain", None),
    ".text": (_TEXT, "read_plain", None),
    ".json": (_JSON, "read_json", None),
    ".jsonl": (_JSON, "read_json_lines", None),
    ".ndjson": (_JSON, "read_json_lines", None),
    ".csv": (_SHEETS, "read_csv", None),
    ".tsv": (_SHEETS, "read_csv", None),
    ".xlsx": (_SHEETS, "read_xlsx", "xlsx"),
    ".xlsm": (_SHEETS, "read_xlsx", "xlsx"),
    ".html": ("html", "read_html", "html"),
    ".htm": ("html", "read_html", "html"),
    ".docx": ("docx", "read_docx", "docx"),
    ".pdf": ("pdf", "read_pdf", "pdf"),
}
# Old formats, with what to do about them.
_CONVERTIBLE = {
    ".doc": ".docx",
    ".xls": ".xlsx",
    ".wps": ".docx",
    ".et": ".xlsx",
    ".ppt": ".pdf",
    ".pptx": ".pdf",
}


def read_file(data: bytes, extension: str) -> FileReadings:
    """Read the content of a file; ``extension`` with its dot, in any case. Raises `DocumentError`."""
    extension = extension.lower()
    if extension not in _READERS:
        advice = f"save it as {_CONVERTIBLE[extension]}" if extension in _CONVERTIBLE else "convert it"
        raise DocumentError(
            f"There is no reader for {extension or 'files without an extension'}; {advice}. "
            f"Readable are {' '.join(sorted(_READERS))}."
        )
    module, name, extra = _READERS[extension]
    try:
        reading: FileReadings = getattr(import_module(f"gyr_hybrid.parsing.formats.{module}"), name)(data)
    except ModuleNotFoundError as error:
        raise DocumentError(
            f"Reading {extension} files needs the package {error.name}: pip install 'gyr_hybrid[{extra}]'."
        ) from error
    return reading
