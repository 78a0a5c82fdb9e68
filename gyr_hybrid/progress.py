"""A progress bar on standard error for long work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")


def progress(items: Sequence[T], label: str, show: bool) -> Iterator[T]:
    """Yield the items, with a bar when asked for one."""
    if not show:
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, description=label, console=Console(stderr=True))
