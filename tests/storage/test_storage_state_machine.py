"""Any sequence of changes, crashes and reopenings leaves what a plain model says."""

from __future__ import annotations

import math
import shutil
import sqlite3
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from gyr_hybrid.storage import Batch, DocumentRecord, KnowledgeStore, following, open_store, writing
from gyr_hybrid.storage.schema import FILE_NAME

Record = Callable[..., DocumentRecord]

_DOC_IDS = st.sampled_from(["a", "b", "c", "d"])
_VERSIONS = st.sampled_from([None, "1"])
_WORDS = ["甲", "乙", "丙", "丁", "戊"]
_CHILDREN = st.lists(
    st.lists(st.sampled_from(_WORDS), min_size=1, max_size=6).map(lambda words: " ".join(words) + " "),
    min_size=1,
    max_size=3,
)
_DOCUMENTS = st.lists(
    st.tuples(_DOC_IDS, _VERSIONS, st.lists(_CHILDREN, min_size=1, max_size=2)),
    max_size=3,
    unique_by=lambda d: d[:2],
)
_QUERY = dict.fromkeys(_WORDS[:3], 1.0) | {"戊": 0.5}


class Model:
    """What a store must answer, worked out the slow way."""

    def __init__(self) -> None:
        self.records: dict[tuple[str, str | None], DocumentRecord] = {}

    def seen(self) -> dict[str, DocumentRecord]:
        """Doc id -> the version seen: `1` is later than none."""
        return {key[0]: self.records[key] for key in sorted(self.records, key=lambda k: (k[0], k[1] or ""))}

    def bm25(self) -> dict[str, float]:
        live = [Counter(tokens) for r in self.records.values() for tokens in r.tokens.values()]
        average = sum(c.total() for c in live) / max(len(live), 1)
        scores = {}
        for one in self.seen().values():
            for child, tokens in one.tokens.items():
                counts, score = Counter(tokens), 0.0
                for word, weight in _QUERY.items():
                    df = sum(word in c for c in live)
                    idf = math.log(1 + (len(live) - df + 0.5) / (df + 0.5))
                    norm = 1.5 * (0.25 + 0.75 * len(tokens) / average)
                    score += weight * idf * counts[word] / (counts[word] + norm)
                if score:
                    scores[child] = score
        return scores

    def cosine(self, query: np.ndarray) -> dict[str, float]:
        return {child: float(query @ v) for r in self.seen().values() for child, v in r.vectors.items()}


class Machine(RuleBasedStateMachine):
    record: Record
    vector_of: Callable[..., np.ndarray]

    @initialize()
    def start(self) -> None:
        self.folders = [Path(tempfile.mkdtemp())]
        self.store: KnowledgeStore = open_store(self.folders[-1])
        self.model = Model()
        self.generation = 0
        self.held: list[tuple[Any, Any]] = []

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            for folder in self.folders:
                shutil.rmtree(folder)

    def _answers(self, view: Any) -> Any:
        query = self.vector_of("question")
        ids = [child for r in self.model.records.values() for child in r.tokens]
        return view.generation, view.lexical(_QUERY, 50), view.dense(query, 50), sorted(view.nodes(ids))

    @rule(documents=_DOCUMENTS, deletes=st.lists(st.tuples(_DOC_IDS, _VERSIONS), max_size=2))
    def change(self, documents: list[Any], deletes: list[Any]) -> None:
        records = tuple(
            self.record(doc_id, sections, **({} if version is None else {"version": version}))
            for doc_id, version, sections in documents
        )
        changes = bool(records) or any(key in self.model.records for key in deletes)
        generation = self.store.apply(Batch(upserts=records, deletes=tuple(deletes)))
        for key in deletes:
            self.model.records.pop(key, None)
        for r in records:
            self.model.records.pop(r.key, None)
            self.model.records[r.key] = r
        assert generation == self.generation + changes
        self.generation = generation

    @rule()
    def hold_a_view(self) -> None:
        view = self.store.view()
        ids = [child for r in self.model.records.values() for child in r.tokens]
        self.held.append((view, (view.lexical(_QUERY, 50), view.nodes(ids), ids)))

    @rule()
    def reopen(self) -> None:
        self.store.close()
        self.held.clear()
        self.store = open_store(self.folders[-1])

    @rule()
    def crash(self) -> None:
        """What a killed process leaves is the files as they are at that moment."""
        self.folders.append(Path(tempfile.mkdtemp()))
        for file in self.folders[-2].iterdir():
            if not file.name.endswith("-shm"):
                shutil.copy(file, self.folders[-1])
        self.store.close()
        self.held.clear()
        self.store = open_store(self.folders[-1])

    @rule()
    def compact(self) -> None:
        self.store.compact()
        self.generation = self.store.view().generation
        self.held.clear()

    @rule()
    def another_process_looks(self) -> None:
        other = open_store(self.folders[-1], read_only=True)
        assert self._answers(other.view()) == self._answers(self.store.view())
        other.close()

    @invariant()
    def answers_are_those_of_the_model(self) -> None:
        if not hasattr(self, "store"):
            return
        view = self.store.view()
        query = self.vector_of("question")
        for hits, expected in (
            (view.lexical(_QUERY, 50), self.model.bm25()),
            (view.dense(query, 50), self.model.cosine(query)),
        ):
            assert {h.node_id: h.score for h in hits} == pytest.approx(expected, abs=1e-4)
            assert [h.score for h in hits] == sorted((h.score for h in hits), reverse=True)
        seen = [node for r in self.model.seen().values() for node in r.nodes]
        found = view.nodes([node.node_id for node in seen])
        assert [found[node.node_id] for node in seen] == seen
        assert {(d.doc_id, d.version) for d in self.store.documents()} == set(self.model.records)
        for view, (hits, nodes, ids) in self.held:
            assert view.lexical(_QUERY, 50) == hits
            assert view.nodes(ids) == nodes

    @invariant()
    def nothing_is_left_over(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.check(repair=False).problems == ()
        raw = sqlite3.connect(self.folders[-1] / FILE_NAME)
        (live,) = raw.execute("SELECT count(*) FROM documents WHERE retired_at IS NULL").fetchone()
        (rows,) = raw.execute("SELECT count(*) FROM documents").fetchone()
        counts = {
            table: raw.execute(
                f"SELECT count(DISTINCT doc_key) FROM {table} WHERE doc_key IN "
                "(SELECT doc_key FROM documents)"
            ).fetchone()[0]
            for table in ("contents", "postings", "pieces")
        }
        orphans = {
            table: raw.execute(
                f"SELECT count(*) FROM {table} WHERE doc_key NOT IN (SELECT doc_key FROM documents)"
            ).fetchone()[0]
            for table in ("contents", "postings", "pieces")
        }
        raw.close()
        assert live == len(self.model.records)
        assert counts == dict.fromkeys(counts, rows)
        assert orphans == dict.fromkeys(orphans, 0)


def test_any_history_gives_what_the_model_says(
    record: Record, vector_of: Callable[..., np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "_FEW_DEAD", 3)
    monkeypatch.setattr(writing, "KEPT_UNUSED", 5)
    Machine.record, Machine.vector_of = staticmethod(record), staticmethod(vector_of)  # type: ignore[assignment]
    run_state_machine_as_test(
        Machine,
        settings=settings(
            max_examples=25,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            suppress_health_check=list(HealthCheck),
        ),
    )
