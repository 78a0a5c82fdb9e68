"""The tables of requirements beside the tests name tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent


@pytest.mark.parametrize("room", ["answering", "storage"])
def test_every_test_that_the_table_names_exists(room: str) -> None:
    named = set(re.findall(r"`(test_\w+)`", (TESTS / room / "README.md").read_text(encoding="utf-8")))
    files = [path.read_text(encoding="utf-8") for path in TESTS.rglob("test_*.py")]
    written = {name for text in files for name in re.findall(r"def (test_\w+)", text)}
    assert named
    assert named - written == set()
