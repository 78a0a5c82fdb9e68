"""Fixtures shared by all rooms: no network, no keys, no settings of the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from gyr_hybrid import HybridIndex, load_documents
from gyr_hybrid.shipped import shipped

# a shared machine is slow at times: no deadline; the same examples every time: a red run can be run again
settings.register_profile("offline", deadline=None, derandomize=True)
settings.load_profile("offline")

_SETTINGS = ("LLM_", "EMBED_", "RERANK_", "JUDGE_", "DASHSCOPE_", "OPENAI_", "GYR_")


@pytest.fixture(autouse=True)
def _offline(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Every test runs offline, away from the developer's environment and ``.env``."""
    for name in list(os.environ):
        if name.startswith(_SETTINGS):
            monkeypatch.delenv(name)
    monkeypatch.setenv("GYR_OFFLINE", "1")
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))


@pytest.fixture(scope="session")
def helpcenter() -> Iterator[HybridIndex]:
    """The shipped help centre, in memory, with the offline embedding. Read only, by agreement."""
    with HybridIndex.from_documents(load_documents(str(shipped("helpcenter"))), offline=True) as index:
        yield index


@pytest.fixture(scope="session")
def novashop() -> Iterator[HybridIndex]:
    """The shipped shop, in memory, with the offline embedding. Read only, by agreement."""
    with HybridIndex.from_documents(load_documents(str(shipped("novashop"))), offline=True) as index:
        yield index
