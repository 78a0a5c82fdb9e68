"""Fixtures shared by all rooms: no network, no keys, no settings of the machine."""

from __future__ import annotations

import os

import pytest

_SETTINGS = ("LLM_", "EMBED_", "RERANK_", "DASHSCOPE_", "OPENAI_", "GYR_")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every test runs offline, away from the developer's environment and ``.env``."""
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GYR_OFFLINE", "1")
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
