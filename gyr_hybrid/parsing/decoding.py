"""Bytes of a file to text: UTF-8, UTF-16 with a BOM, GBK/GB18030 and what charset-normalizer knows."""

from __future__ import annotations

import codecs

from gyr_hybrid.errors import DocumentError

# UTF-32 first: its little-endian BOM begins with that of UTF-16.
_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Share of Han characters in the 3755 most frequent of GB 2312: above 0.95 in Chinese prose read
# rightly, below 0.6 when UTF-8 or Big5 is read as GB 18030.
_COMMON_SHARE = 0.8
_DETECT_BYTES = 1 << 20


def decode(data: bytes) -> str:
    """Decode ``data``, drop a BOM and make every line end LF.

    Raises `DocumentError` for binary data and for text whose encoding cannot be told.

    >>> decode("退款政策\\r\\n".encode("gbk"))
    '退款政策\\n'
    """
    return _decode(data).replace("\r\n", "\n").replace("\r", "\n")


def _decode(data: bytes) -> str:
    for bom, encoding in _BOMS:
        if data.startswith(bom):
            try:
                return data[len(bom) :].decode(encoding)
            except UnicodeDecodeError as error:
                raise DocumentError(f"The file begins like {encoding} but is not: {error}.") from error
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        if b"\0" in data:
            raise DocumentError(
                "The file is binary, not text; convert it to Markdown or plain text."
            ) from error
        return _detect(data, error)
    if "\0" in text:
        raise DocumentError("The file contains NUL characters, so it is not text; convert it to UTF-8.")
    return text


def _detect(data: bytes, error: UnicodeDecodeError) -> str:
    line = data.count(b"\n", 0, error.start) + 1
    if _is_damaged_utf8(data):
        raise DocumentError(
            f"The file is UTF-8 but damaged: byte 0x{data[error.start]:02x} in line {line}; repair it and save again."
        ) from error
    try:
        text = data.decode("gb18030")
    except UnicodeDecodeError:
        text = ""
    if text and _common_share(text) >= _COMMON_SHARE:
        return text

    from charset_normalizer import from_bytes

    best = from_bytes(data[:_DETECT_BYTES]).best()
    if best is not None:
        try:
            return data.decode(best.encoding)
        except (UnicodeDecodeError, LookupError):
            pass
    raise DocumentError(
        f"The encoding cannot be told: byte 0x{data[error.start]:02x} in line {line} is not UTF-8, "
        "and the text is no GB 18030; save the file as UTF-8."
    ) from error


def _is_damaged_utf8(data: bytes) -> bool:
    """More characters beyond ASCII can be read as UTF-8 than bytes cannot."""
    readable = data.decode("utf-8", "ignore")
    foreign = len(readable) - sum(map(str.isascii, readable))
    return foreign > len(data) - len(readable.encode())


def _common_share(text: str) -> float:
    """Share of the non-ASCII characters that are frequent Chinese ones or Chinese punctuation."""
    foreign = [char for char in text if char > "\x7f"]
    return sum(map(_is_common, foreign)) / len(foreign) if foreign else 0.0


def _is_common(char: str) -> bool:
    try:
        code = char.encode("gb2312")
    except UnicodeEncodeError:
        return False
    # Rows 0xA1 and 0xA3: punctuation and full-width forms; rows 0xB0-0xD7: the frequent characters.
    return code[0] in (0xA1, 0xA3) or 0xB0 <= code[0] <= 0xD7
