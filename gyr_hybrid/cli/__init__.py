"""The command line: ``gyr-hybrid`` and ``python -m gyr_hybrid``."""

from gyr_hybrid.cli import commands, examining, upkeep
from gyr_hybrid.cli.app import app

__all__ = ["app", "commands", "examining", "main", "upkeep"]


def main() -> None:
    """Entry point for ``python -m gyr_hybrid``."""
    app()
