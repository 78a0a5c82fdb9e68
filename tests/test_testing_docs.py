"""The examples of ``docs/testing.md`` and of the modules it is about run as they stand."""

from __future__ import annotations

import doctest
from importlib import import_module
from pathlib import Path

import pytest

from gyr_hybrid.models import calls

DOCS = Path(__file__).parents[1] / "docs"
MODULES = (
    "gyr_hybrid.settings",
    "gyr_hybrid.testing",
    "gyr_hybrid.testing.embedding",
    "gyr_hybrid.testing.endpoint",
    "gyr_hybrid.testing.llm",
    "gyr_hybrid.models.endpoints",
    "gyr_hybrid.models.local_embedding",
    "gyr_hybrid.models.vectors",
    "gyr_hybrid.retrieval.jieba_bm25",
    "gyr_hybrid.retrieval.query",
)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)


def test_the_page() -> None:
    failed, tried = doctest.testfile(str(DOCS / "testing.md"), module_relative=False)
    assert (failed, tried > 10) == (0, True)


@pytest.mark.parametrize("name", MODULES)
def test_the_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(import_module(name))
    assert (failed, tried > 0) == (0, True)
