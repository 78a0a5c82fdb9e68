"""The knowledge bases that come with the package: a help centre and a shop, both made up."""

from __future__ import annotations

from pathlib import Path

from gyr_hybrid.errors import ConfigurationError


def shipped(name: str) -> Path:
    """Folder of a shipped knowledge base, ``helpcenter`` or ``novashop``."""
    here = Path(__file__).parent
    for folder in (here / "data" / name, here.parent / "data" / name):  # installed, or a checkout
        if folder.is_dir():
            return folder
    raise ConfigurationError(
        f"no knowledge base {name!r} comes with the package; there are helpcenter and novashop"
    )
