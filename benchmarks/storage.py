"""How fast the store is, against numpy, bm25s and the stock LlamaIndex pipeline in the same run.

    python benchmarks/storage.py --size 100000
    python benchmarks/storage.py --size 1000000 --no-peers
    python benchmarks/storage.py --stock 20000

Synthetic documents of ten children of about seventy characters: words of jieba's dictionary by frequency, a
code in every second heading, 512-dimensional unit vectors around 2,000 centres, ten tenants, categories of a
thousandth. All from one seed. Times are of this machine at this moment; the ratios are what counts. Peers and
store take turns question by question, so that both meet the same weather.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field
from llama_index.core.schema import Document, TextNode
from llama_index.core.vector_stores import MetadataFilter

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.parsing import SectionNodeParser
from gyr_hybrid.parsing.node_parser import collector_paused
from gyr_hybrid.preparation import Preparer
from gyr_hybrid.storage import (
    Batch,
    DocumentRecord,
    KnowledgeStore,
    Scope,
    compile_filters,
    open_store,
)

DIMENSION = 512
CHILDREN = 10
DOCUMENTS_PER_COMMIT = 50
QUESTIONS = 50


class Words:
    """Words by frequency from jieba's dictionary."""

    def __init__(self, seed: int) -> None:
        import jieba

        jieba.setLogLevel(60)
        jieba.initialize()
        pairs = [(w, f) for w, f in jieba.dt.FREQ.items() if f > 0 and 1 <= len(w) <= 4]
        self._words = np.array([w for w, _ in pairs])
        weights = np.array([f for _, f in pairs], dtype=float)
        self._sums = np.cumsum(weights / weights.sum())
        self.random = np.random.default_rng(seed)

    def draw(self, n: int) -> list[str]:
        places = np.searchsorted(self._sums, self.random.random(n)).clip(0, len(self._words) - 1)
        return self._words[places].tolist()


def make_document(words: Words, i: int) -> Document:
    """Two sections of five children each."""
    parts = [f"# 文档{i}\n"]
    for section in range(2):
        code = f" E{10_000 + 2 * i + section}" if section else ""
        parts.append(f"\n## {''.join(words.draw(2))}{code}\n\n")
        parts.extend("".join(words.draw(66))[:66] + "。" for _ in range(CHILDREN // 2))
    metadata = {"tenant": f"t{i % 10}", "category": f"c{i % 1000}", "updated_at": "2026-01-01"}
    return Document(id_=f"doc-{i:07d}", text="".join(parts), metadata=metadata)


def vectors_of(random: np.random.Generator, centres: np.ndarray, n: int) -> np.ndarray:
    vectors = centres[random.integers(0, len(centres), n)] + 0.5 * random.standard_normal(
        (n, DIMENSION), np.float32
    )
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class Source:
    """Records made as an index makes them, and the time that each step took."""

    def __init__(self, analyzer: Analyzer) -> None:
        self._preparer = Preparer(analyzer, SectionNodeParser(analyzer=analyzer))
        self.seconds = {step: np.zeros(2) for step in ("parse and analyse", "commit")}
        self.children = 0

    def took(self, step: str, started: np.ndarray, ended: np.ndarray) -> None:
        self.seconds[step] += ended - started

    def records(
        self, documents: Sequence[Document], vectors: Callable[[int], np.ndarray]
    ) -> tuple[DocumentRecord, ...]:
        started = _now()
        with collector_paused():
            prepared = [(self._preparer.fingerprint(d), self._preparer.prepare(d)) for d in documents]
        self.took("parse and analyse", started, _now())
        self.children += sum(len(p.hashes) for _, p in prepared)
        return tuple(
            DocumentRecord(
                p.document,
                p.nodes,
                p.tokens,
                p.codes,
                dict(zip(p.hashes, vectors(len(p.hashes)), strict=True)),
                fingerprint,
                hashes=p.hashes,
            )
            for fingerprint, p in prepared
        )


def ingest(folder: str, size: int, backend: str, seed: int = 7) -> dict[str, Any]:
    """Fill a store and say how long each step took, embedding aside."""
    words, source = Words(seed), Source(Analyzer(backend=backend))
    random = np.random.default_rng(seed)
    centres = random.standard_normal((2000, DIMENSION), np.float32)
    store, number = open_store(folder), 0
    while source.children < size:
        documents = [make_document(words, number + i) for i in range(DOCUMENTS_PER_COMMIT)]
        number += len(documents)
        records = source.records(documents, lambda n: vectors_of(random, centres, n))
        started = _now()
        store.apply(Batch(upserts=records))
        source.took("commit", started, _now())
    store.close()
    total = sum(source.seconds.values(), np.zeros(2))
    return {
        "children": source.children,
        "documents": number,
        **{
            f"{step}, µs per child: clock, CPU": _micro(s / source.children)
            for step, s in source.seconds.items()
        },
        "children/s: by clock, by CPU": (source.children / total).round().tolist(),
        "MB on disk": round(sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6, 1),
    }


def _now() -> np.ndarray:
    """Clock and CPU, in seconds."""
    return np.array([time.perf_counter(), time.process_time()])


def _micro(seconds: np.ndarray) -> list[float]:
    return (1e6 * seconds).round().tolist()


class GivenVector(BaseEmbedding):
    """Stands for a model whose time is not counted."""

    values: list[float] = Field(default_factory=list)

    def _get_query_embedding(self, query: str) -> list[float]:
        return self.values

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self.values

    def _get_text_embedding(self, text: str) -> list[float]:
        return self.values


def measure(folder: str, peers: bool, n_questions: int = QUESTIONS, seed: int = 8) -> dict[str, Any]:
    """Open an index in this fresh process and ask it."""
    from gyr_hybrid.retrieval.retriever import HybridRetriever

    open_store(None).view()
    before = _resident()
    started, busy = time.perf_counter(), time.process_time()
    store = open_store(folder)
    view = store.view()
    opened, busy = time.perf_counter() - started, time.process_time() - busy
    view.codes.exact("")
    view.dense(np.ones(DIMENSION, dtype=np.float32), 50)
    resident = _resident() - before
    out: dict[str, Any] = {
        "children": view.n_children,
        "open s": round(opened, 2),
        "open CPU s": round(busy, 2),
    }
    analyzer, model = Analyzer(), GivenVector()
    retriever = HybridRetriever(store, analyzer, embed_model=model)
    words, random = Words(seed), np.random.default_rng(seed)
    questions = ["".join(words.draw(5)) for _ in range(n_questions)]
    questions[::5] = [f"E{10_001 + 2 * i} {q}" for i, q in enumerate(questions[::5])]
    vectors = _neighbours(store, random, n_questions)
    tokens = [analyzer.query_tokens(q) for q in questions]
    model.values = vectors[0].tolist()
    started = time.perf_counter()
    retriever.retrieve(questions[0])
    out["first question s"] = round(time.perf_counter() - started, 2)
    out["MB resident"] = resident
    out["MB allowed"] = round(view.n_children * (DIMENSION * 4 * 1.5 + 1500) / 1e6)

    def whole(i: int) -> None:
        model.values = vectors[i].tolist()
        retriever.retrieve(questions[i])

    def searches(i: int) -> None:
        shown = store.view()
        hits = shown.lexical(dict.fromkeys(tokens[i], 1.0), 50) + shown.dense(vectors[i], 50)
        shown.nodes(list(dict.fromkeys(shown.parents([hit.node_id for hit in hits]).values()))[:5])

    runs: dict[str, Callable[[int], Any]] = {
        "whole retrieval": whole,
        "store alone (BM25, vectors, parents, nodes)": searches,
        "BM25": lambda i: view.lexical(dict.fromkeys(tokens[i], 1.0), 50),
        "vectors": lambda i: view.dense(vectors[i], 50),
    }
    for share, name, key, value in (
        ("10 %", "tenant", "tenant", "t3"),
        ("0.1 %", "category", "category", "c77"),
    ):
        filtered = store.view(Scope(filters=compile_filters(MetadataFilter(key=key, value=value))))
        runs[f"store alone, filter {share}"] = lambda i, shown=filtered: (
            shown.lexical(dict.fromkeys(tokens[i], 1.0), 50),
            shown.dense(vectors[i], 50),
        )
        out[f"rows passing {name}"] = filtered.n_visible
    runs["store alone, no filter"] = lambda i: (
        view.lexical(dict.fromkeys(tokens[i], 1.0), 50),
        view.dense(vectors[i], 50),
    )
    if peers:
        runs["numpy product + bm25s"] = _peers(store, folder, vectors, tokens)
    times: dict[str, list[float]] = {name: [] for name in runs}
    for i in range(n_questions):
        for name, run in runs.items():
            started = time.perf_counter()
            run(i)
            times[name].append(time.perf_counter() - started)
    out["ms"] = {
        name: [round(1e3 * float(np.percentile(t, p)), 2) for p in (50, 95)] for name, t in times.items()
    }
    if peers:
        base = np.percentile(times["numpy product + bm25s"], (50, 95))
        ours = np.percentile(times["whole retrieval"], (50, 95))
        out["whole retrieval / (numpy + bm25s)"] = [round(float(r), 2) for r in ours / base]
    plain = np.percentile(times["store alone, no filter"], 50)
    for share in ("10 %", "0.1 %"):
        ratio = np.percentile(times[f"store alone, filter {share}"], 50) / plain
        out[f"filter {share} / no filter"] = round(float(ratio), 2)
    out["replace a document and ask, ms"] = _replace(store, analyzer, whole, min(20, n_questions))
    store.close()
    return out


def _neighbours(store: KnowledgeStore, random: np.random.Generator, n: int) -> np.ndarray:
    """Questions beside stored vectors, so that there is something to find."""
    from gyr_hybrid.storage.vectors import decode

    connection = _raw(store)
    (last,) = connection.execute("SELECT max(vector_key) FROM vectors").fetchone()
    keys = random.integers(1, last + 1, n).tolist()
    marks = ",".join("?" * n)
    rows = connection.execute(f"SELECT vector FROM vectors WHERE vector_key IN ({marks})", keys).fetchall()
    found = decode([blob for (blob,) in rows])
    found = (
        found[random.integers(0, len(found), n)]
        + 0.3 * random.standard_normal((n, DIMENSION), np.float32) / 20
    )
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)


def _peers(
    store: KnowledgeStore, folder: str, vectors: np.ndarray, tokens: list[list[str]]
) -> Callable[[int], Any]:
    """One matrix product and one bm25s query (numpy), over the same vectors and tokens."""
    import bm25s

    from gyr_hybrid.storage.postings import term_key
    from gyr_hybrid.storage.vectors import decode

    connection = _raw(store)
    matrix = np.concatenate(
        [decode([b for (b,) in rows]) for rows in _batches(connection, "SELECT vector FROM vectors")]
    )
    corpus = []
    for counts, ids, frequencies in connection.execute(
        "SELECT term_counts, term_keys, frequencies FROM contents JOIN postings USING (doc_key)"
    ):
        distinct = np.frombuffer(counts, dtype=np.int32).reshape(-1, 2)[:, 0]
        repeated = np.split(np.arange(distinct.sum()), np.cumsum(distinct)[:-1])
        terms, repeats = np.frombuffer(ids, dtype=np.uint64), np.frombuffer(frequencies, dtype=np.uint8)
        corpus.extend(list(map(str, np.repeat(terms[part], repeats[part]).tolist())) for part in repeated)
    started = time.perf_counter()
    index = bm25s.BM25(method="lucene", backend="numpy")
    index.index(corpus, show_progress=False)
    print(f"bm25s built in {time.perf_counter() - started:.1f} s", file=sys.stderr)

    def run(i: int) -> None:
        known = [key for token in tokens[i] if (key := str(term_key(token))) in index.vocab_dict]
        matrix @ vectors[i]
        if known:
            index.retrieve([known], k=50, show_progress=False)

    return run


def _raw(store: KnowledgeStore) -> Any:
    """The database itself, past the protocol."""
    return store._connections._reader  # type: ignore[attr-defined]


def _batches(connection: Any, sql: str) -> Iterator[list[tuple[Any, ...]]]:
    cursor = connection.execute(sql)
    while rows := cursor.fetchmany(4096):
        yield rows


def _replace(
    store: KnowledgeStore, analyzer: Analyzer, ask: Callable[[int], Any], rounds: int
) -> dict[str, float]:
    """Replace one document of ten children, then ask: the commit, and what the next question takes longer."""
    words, source, random = Words(9), Source(analyzer), np.random.default_rng(9)
    centres = random.standard_normal((10, DIMENSION), np.float32)
    times, plain, after = [], [], []
    for i in range(rounds):
        records = source.records([make_document(words, 50 + i)], lambda n: vectors_of(random, centres, n))
        ask(i)
        for kept, run in (
            (plain, lambda i=i: ask(i)),
            (times, lambda records=records: store.apply(Batch(upserts=records))),
            (after, lambda i=i: ask(i)),
        ):
            started = time.perf_counter()
            run()
            kept.append(1e3 * (time.perf_counter() - started))
    median = [float(np.median(kept)) for kept in (times, after, plain)]
    return {"commit p50": round(median[0], 2), "question's extra p50": round(median[1] - median[2], 2)}


def stock(size: int, seed: int = 7) -> dict[str, Any]:
    """VectorStoreIndex and BM25Retriever over flat nodes, saved and loaded as the documentation says."""
    from llama_index.core import Settings, StorageContext, VectorStoreIndex, load_index_from_storage
    from llama_index.core.llms import MockLLM
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.retrievers.bm25 import BM25Retriever

    words, source = Words(seed), Source(Analyzer())
    random = np.random.default_rng(seed)
    centres = random.standard_normal((2000, DIMENSION), np.float32)
    nodes: list[TextNode] = []
    number = 0
    model = GivenVector()
    Settings.embed_model, Settings.llm = model, MockLLM()
    while len(nodes) < size:
        (record,) = source.records([make_document(words, number)], lambda n: vectors_of(random, centres, n))
        number += 1
        nodes.extend(
            node.model_copy(update={"embedding": record.vectors[node.node_id].tolist()})
            for node in record.nodes
            if node.node_id in record.vectors
        )
    out: dict[str, Any] = {"children": len(nodes)}
    with tempfile.TemporaryDirectory() as folder:
        index = VectorStoreIndex(nodes)
        bm25 = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=50)
        started = time.perf_counter()
        index.storage_context.persist(folder)
        bm25.persist(f"{folder}/bm25")
        out["save s"] = round(time.perf_counter() - started, 2)
        out["MB on disk"] = round(
            sum(f.stat().st_size for f in Path(folder).rglob("*") if f.is_file()) / 1e6, 1
        )
        del index, bm25
        started = time.perf_counter()
        loaded = load_index_from_storage(StorageContext.from_defaults(persist_dir=folder))
        again = BM25Retriever.from_persist_dir(f"{folder}/bm25")
        out["open s"] = round(time.perf_counter() - started, 2)
        dense = loaded.as_retriever(similarity_top_k=50)
        fusion = QueryFusionRetriever(
            [dense, again], mode="reciprocal_rerank", num_queries=1, similarity_top_k=5, use_async=False
        )
        times = []
        queries = vectors_of(random, centres, 10)
        for query in queries:
            model.values = query.tolist()
            started = time.perf_counter()
            fusion.retrieve(" ".join(words.draw(5)))
            times.append(1e3 * (time.perf_counter() - started))
        out["query ms"] = [round(float(np.percentile(times, p)), 1) for p in (50, 95)]
    return out


def _resident() -> int:
    """Megabytes in memory now."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1_000_000


def _aside(*arguments: str) -> dict[str, Any]:
    """A part of the benchmark in a process of its own."""
    ran = subprocess.run(
        [sys.executable, __file__, *arguments], stdout=subprocess.PIPE, text=True, check=True
    )
    result: dict[str, Any] = json.loads(ran.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, help="children in the store")
    parser.add_argument(
        "--stock", type=int, help="children in the stock pipeline, and as many in ours beside it"
    )
    parser.add_argument("--folder", help="keep the index here, and use it again when it is there")
    parser.add_argument("--backend", default="rjieba", help="words by rjieba or jieba")
    parser.add_argument("--no-peers", action="store_true", help="without numpy and bm25s, which take memory")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="asked of each way of searching")
    parser.add_argument("--part", choices=("ingest", "measure", "stock"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    size = given.size or given.stock or 10_000
    if given.part:
        parts: dict[str, Callable[[], dict[str, Any]]] = {
            "ingest": lambda: ingest(given.folder, size, given.backend),
            "measure": lambda: measure(given.folder, not given.no_peers, given.questions),
            "stock": lambda: stock(size),
        }
        print(json.dumps(parts[given.part]()))
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.folder or temporary
        peers = ["--questions", str(given.questions), *(["--no-peers"] if given.no_peers else [])]
        if not (Path(folder) / "knowledge.sqlite3").exists():
            _show(
                "ingest",
                _aside(
                    "--part", "ingest", "--folder", folder, "--size", str(size), "--backend", given.backend
                ),
            )
        _show("store", _aside("--part", "measure", "--folder", folder, *peers))
        if given.stock:
            _show("stock LlamaIndex", _aside("--part", "stock", "--size", str(size)))


def _show(title: str, result: dict[str, Any]) -> None:
    print(f"\n{title}")
    for name, value in result.items():
        if isinstance(value, dict):
            for inner, numbers in value.items():
                print(f"  {name}  {inner:<46}{numbers}")
        else:
            print(f"  {name:<42}{value}")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
