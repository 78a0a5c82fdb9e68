"""The command line: ``gyr-hybrid`` and ``python -m gyr_hybrid``."""

from gyr_hybrid.cli.commands import app, main

__all__ = ["app", "main"]
