"""Bounds for files that are zip archives inside (DOCX, XLSX)."""

from __future__ import annotations

import io
import zipfile

from gyr_hybrid.errors import DocumentError

MAX_UNPACKED = 512 << 20  # bytes
_MAX_RATIO = 200  # a zip bomb packs a thousand to one and more; XML of real documents ten to fifty to one
_SMALL = 16 << 20  # below this many unpacked bytes no ratio is asked


def check_archive(data: bytes) -> None:
    """Raise `DocumentError` when ``data`` is no zip archive or would unpack to far too much."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(info.file_size for info in archive.infolist())
    except zipfile.BadZipFile as error:
        raise DocumentError(f"The file is damaged or of another format: {error}.") from error
    if unpacked > MAX_UNPACKED or (unpacked > _SMALL and unpacked > _MAX_RATIO * len(data)):
        raise DocumentError(
            f"The file unpacks from {len(data):,} to {unpacked:,} bytes; it is taken for a zip bomb and not read."
        )
