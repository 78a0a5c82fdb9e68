"""Which index a command means: the user's, or the demo."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from gyr_hybrid.errors import ConfigurationError, GyrError

if TYPE_CHECKING:
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.parsing import LoadedDocuments
    from gyr_hybrid.settings import Settings

DEFAULT_STORAGE = "storage"


def open_existing(storage: str | None) -> HybridIndex:
    """The index named by ``--storage`` or the default one; never a new one by mistake."""
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.storage import is_index

    folder = storage or DEFAULT_STORAGE
    if not is_index(folder):
        raise ConfigurationError(
            f"there is no index in {folder!r}; build one with `gyr-hybrid index PATH --storage {folder}`"
        )
    return HybridIndex.open(folder)


def open_or_demo(storage: str | None, *, offline: bool) -> tuple[HybridIndex, str]:
    """The user's index; without one, and with none named, the demo built from the shipped help centre."""
    from gyr_hybrid.index import HybridIndex
    from gyr_hybrid.storage import is_index

    folder = storage or DEFAULT_STORAGE
    if is_index(folder):
        return HybridIndex.open(folder, offline=offline or None), folder
    if storage is not None:
        raise ConfigurationError(
            f"there is no index in {storage!r}; build one with `gyr-hybrid index PATH --storage {storage}`, "
            "or leave --storage out to try the demo"
        )
    return _demo(offline=offline), "demo"


def _demo(*, offline: bool) -> HybridIndex:
    from platformdirs import user_cache_path

    from gyr_hybrid import __version__
    from gyr_hybrid.models.endpoints import embedding_model
    from gyr_hybrid.models.identity import embedding_identity
    from gyr_hybrid.parsing import load_documents
    from gyr_hybrid.settings import Settings
    from gyr_hybrid.shipped import shipped

    source = shipped("helpcenter")
    settings = Settings.load(offline=offline or None)
    model = embedding_model(settings)
    key = hashlib.sha256(f"{__version__} {embedding_identity(model) if model else None}".encode())
    for file in sorted(source.glob("*.md")):
        key.update(file.read_bytes())
    folder = user_cache_path("gyr_hybrid") / f"demo-{key.hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    documents = load_documents(str(source))
    try:
        return _filled(folder, settings, documents)
    except GyrError:  # a cache is made again, whatever is wrong with it
        shutil.rmtree(folder)
        folder.mkdir(parents=True)
        return _filled(folder, settings, documents)


def _filled(folder: Path, settings: Settings, documents: LoadedDocuments) -> HybridIndex:
    from gyr_hybrid.index import HybridIndex

    index = HybridIndex.open(folder, settings=settings)
    try:
        if index.stale_analysis is not None:  # kept by a version with other rules
            index.reanalyze()
        index.upsert(documents, prune=True, show_progress=sys.stderr.isatty())
        index.codes()  # reads what a question will read
    except BaseException:
        index.close()
        raise
    return index
