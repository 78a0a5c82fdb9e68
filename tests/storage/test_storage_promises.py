"""The table of promises names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

HERE = Path(__file__).parent


def test_every_test_that_the_table_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (HERE / "README.md").read_text(encoding="utf-8")))
    files = [path.read_text(encoding="utf-8") for path in HERE.parent.rglob("test_*.py")]
    written = {name for text in files for name in re.findall(r"def (test_\w+)", text)}
    assert named - written == set()
