"""The examples of ``docs/filters.md`` and of the store's modules run as they stand."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MODULES = ("filters", "ranking", "vectors", "visibility")


def test_the_examples_of_the_page_on_filters_run() -> None:
    page = ROOT / "docs" / "filters.md"
    text = page.read_text(encoding="utf-8").replace("```python\n", "").replace("```\n", "\n")
    test = doctest.DocTestParser().get_doctest(text, {}, page.name, str(page), 0)
    assert len(test.examples) > 5
    assert doctest.DocTestRunner().run(test).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_run(name: str) -> None:
    module = importlib.import_module(f"gyr_hybrid.storage.{name}")
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0
