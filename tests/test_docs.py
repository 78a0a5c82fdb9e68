"""Every example of the docs, of docstrings and of ``examples/`` runs and shows what it says."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from gyr_hybrid import HybridIndex, load_documents
from gyr_hybrid.models import calls
from gyr_hybrid.testing import ScriptedLLM

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "gyr_hybrid"
MODULES = sorted(
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in PACKAGE.rglob("*.py")
    if ">>> " in file.read_text(encoding="utf-8")
)
PAGES = sorted(
    page.name for page in (ROOT / "docs").glob("*.md") if ">>> " in page.read_text(encoding="utf-8")
)


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "FIRST_WAIT", 0.001)
    monkeypatch.chdir(ROOT)


def test_there_are_pages() -> None:
    assert {"answers.md", "codes.md", "filters.md", "testing.md"} <= set(PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_the_page(page: str) -> None:
    failed, tried = doctest.testfile(str(ROOT / "docs" / page), module_relative=False)
    assert (failed, tried > 5) == (0, True)


@pytest.mark.parametrize("page", ["README.md", "README.en.md"])
def test_the_readme(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(ROOT / "data", tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    documents = load_documents("data/helpcenter")
    with HybridIndex.from_documents(documents, offline=True) as index:
        names: dict[str, Any] = {
            "documents": documents,
            "llm": ScriptedLLM("三年内免费维修。[kb-002#1]"),
            "any_retriever": index.as_retriever(mode="lexical"),
        }
        first, *others = re.findall(
            r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL
        )
        exec(first, names)
        assert "再导入。[kb-010#2]\n[kb-010#2] kb-010 " in capsys.readouterr().out
        names["index"] = index
        for block in others:
            exec(block, names)
        found = names["retriever"].retrieve("E1042")
        names["index"].close()
    assert names["answer"].citations[0].doc_id == "kb-002"
    assert [hit.node.node_id for hit in found[:2]] == ["kb-010#1", "kb-010#2"]


@pytest.mark.parametrize("name", MODULES)
def test_the_docstrings(name: str) -> None:
    failed, tried = doctest.testmod(importlib.import_module(name.removesuffix(".__init__")))
    assert (failed, tried > 0) == (0, True)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("folder", ["20 documents added, 0 failed", "重新填写日期后再导入。[kb-010#2]", "kb-010 126–162"]),
        ("your_pipeline", ["设为「文本」。[kb-010#2]", "dropped: 退款 99 天到账。"]),
        ("tenants", ["468 元。[price@2025#1]", "498 元。[price@2026#1]", "打 8 折。[discount#1]"]),
    ],
)
def test_the_script(name: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / f"{name}.py"))["main"]()
    out = capsys.readouterr().out
    for part in shown:
        assert part in out
    assert "打 9 折" not in out
    assert "99 天到账。[" not in out.splitlines()[0]


async def test_the_service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with HybridIndex.open(tmp_path, embed_model=None) as index:
        index.upsert(load_documents("data/helpcenter"))
    monkeypatch.setenv("KNOWLEDGE", str(tmp_path))
    spec = importlib.util.spec_from_file_location("service_example", ROOT / "examples" / "service.py")
    assert spec is not None
    assert spec.loader is not None
    service = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(service)
    transport = httpx.ASGITransport(service.app)
    async with (
        service.lifespan(service.app),
        httpx.AsyncClient(transport=transport, base_url="http://here") as client,
    ):
        answered = (await client.get("/ask", params={"q": "报错E1042，怎么办"})).text
        refused = (await client.get("/ask", params={"q": "E9999 怎么办"})).text
    assert "event: sentence" in answered
    assert "[kb-010#2]" in answered
    assert '"refused": false' in answered
    assert '"reason": "unknown_identifier"' in refused
