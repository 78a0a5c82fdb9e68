"""What every engine must do, whichever it is."""

from __future__ import annotations

import threading
from collections.abc import Callable

import bm25s
import numpy as np
import pytest
from llama_index.core.node_parser import HierarchicalNodeParser, SentenceSplitter
from llama_index.core.schema import Document, NodeRelationship, TextNode

from gyr_hybrid.errors import DocumentError, EmbeddingError, StorageError
from gyr_hybrid.storage import Batch, CodeMention, DocumentRecord, KnowledgeStore, Scope, embed_hash

Fill = Callable[..., int]
Record = Callable[..., DocumentRecord]
VectorOf = Callable[..., np.ndarray]


def ids(hits: list) -> list[str]:
    return [hit.node_id for hit in hits]


# what goes in comes back


def test_nodes_and_documents_come_back_equal(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    one = record(
        "kb-1", [["红 苹果。", "绿 苹果。"], ["蓝 莓。"]], title="水果", tags=["a", "b"], n=3, f=1.5, yes=True
    )
    fill(one)
    view = store.view()
    found = view.nodes([node.node_id for node in one.nodes])
    assert [found[node.node_id] for node in one.nodes] == list(one.nodes)
    assert [found[n.node_id].to_dict() for n in one.nodes] == [n.to_dict() for n in one.nodes]
    assert view.document("kb-1") == one.document


@pytest.mark.parametrize(
    "parser",
    [
        SentenceSplitter(chunk_size=40, chunk_overlap=10, include_metadata=False),
        HierarchicalNodeParser.from_defaults(chunk_sizes=[120, 60, 30], chunk_overlap=5),
    ],
)
def test_nodes_of_any_parser_come_back_equal(
    store: KnowledgeStore, fill: Fill, parser: SentenceSplitter | HierarchicalNodeParser
) -> None:
    document = Document(id_="d", text="第一句话。第二句话，稍长一些。" * 20 + "完。", metadata={"k": "v"})
    nodes = tuple(n for n in parser.get_nodes_from_documents([document]) if isinstance(n, TextNode))
    fill(DocumentRecord(document, nodes))
    view = store.view()
    found = view.nodes([node.node_id for node in nodes])
    assert [found[node.node_id] for node in nodes] == list(nodes)
    assert view.document("d") == document
    for node in nodes:
        if node.parent_node:
            assert view.parents([node.node_id]) == {node.node_id: node.parent_node.node_id}


def test_every_call_gives_fresh_copies(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb-1", tags=["a"]))
    view = store.view()
    first = view.nodes(["kb-1#1.1"])["kb-1#1.1"]
    first.metadata["tags"].append("changed")
    first.text = "changed"
    assert view.nodes(["kb-1#1.1"])["kb-1#1.1"].metadata["tags"] == ["a"]


def test_structure_is_known(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb-1", [["甲。", "乙。"], ["丙。"]]))
    view = store.view()
    assert view.children(["kb-1#1", "kb-1#2"]) == {"kb-1#1": ["kb-1#1.1", "kb-1#1.2"], "kb-1#2": ["kb-1#2.1"]}
    assert view.parents(["kb-1#1.2", "kb-1#2.1", "kb-1#1"]) == {"kb-1#1.2": "kb-1#1", "kb-1#2.1": "kb-1#2"}
    assert view.header_paths(["kb-1#2", "nothing", "kb-1#1.1"]) == [("kb-1", "第2节"), (), ("kb-1", "第1节")]
    assert view.spans(["kb-1#1.2", "kb-1#2"]) == {"kb-1#1.2": (2, 4), "kb-1#2": (5, 7)}


def test_children_need_not_stand_beside_each_other(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    one = record("a", [["甲。", "乙。"], ["丙。", "丁。"]])
    order = ["a#1", "a#2", "a#1.1", "a#2.1", "a#1.2", "a#2.2"]
    nodes = {node.node_id: node for node in one.nodes}
    fill(record("0"), DocumentRecord(one.document, tuple(nodes[i] for i in order)))
    view = store.view()
    assert view.children(["a#2", "a#1", "0#1"]) == {
        "a#2": ["a#2.1", "a#2.2"],
        "a#1": ["a#1.1", "a#1.2"],
        "0#1": ["0#1.1", "0#1.2"],
    }
    assert view.children(["a#1.1"]) == {"a#1.1": []}
    assert sorted(order, key=view.position) == order


def test_unknown_ids_are_left_out(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    fill(record("kb-1"))
    view = store.view()
    assert list(view.nodes(["x", "kb-1#1.1"])) == ["kb-1#1.1"]
    assert view.parents(["x"]) == view.children(["x"]) == view.spans(["x"]) == {}
    assert view.bm25({"苹果": 1.0}, ["x"]) == view.cosine(vector_of("a"), ["x"]) == {}
    assert view.document("x") is None
    assert view.lengths(["x", "kb-1#1.1"]).tolist() == [0, 4]


def test_an_empty_store_answers(store: KnowledgeStore, vector_of: VectorOf) -> None:
    view = store.view()
    assert view.n_children == view.n_visible == view.generation == 0
    assert view.dense(vector_of("a"), 5) == view.lexical({"a": 1.0}, 5) == []
    assert view.idf("a") == 0.0
    assert view.dimension is None
    assert list(view.codes.all()) == []
    assert store.documents() == []


def test_text_that_utf8_cannot_write_comes_back(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    odd = record("kb-1", [["半个 \ud83d 字符。", "零\x00字节。"]], title="半\ud83d")
    fill(odd)
    view = store.view()
    assert view.document("kb-1") == odd.document
    assert view.nodes(["kb-1#1.2"])["kb-1#1.2"].text == "零\x00字节。"
    assert ids(view.lexical({"\ud83d": 1.0}, 5)) == ["kb-1#1.1"]
    assert store.check().ok


# searches


def test_scores_are_those_of_bm25s(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    rng = np.random.default_rng(5)
    words = [f"w{i}" for i in range(60)]
    weights = 1 / np.arange(1, 61)
    sections = [
        [" ".join(rng.choice(words, rng.integers(1, 30), p=weights / weights.sum())) + " " for _ in range(3)]
        for _ in range(40)
    ]
    records = [record(f"d{i:02d}", [section]) for i, section in enumerate(sections)]
    for start in range(0, 40, 7):
        fill(*records[start : start + 7])
    store.apply(Batch(deletes=(("d03", None), ("d39", None))))
    live = [r for i, r in enumerate(records) if i not in (3, 39)]
    corpus = [(child, list(tokens)) for r in live for child, tokens in r.tokens.items()]
    reference = bm25s.BM25(method="lucene", k1=1.5, b=0.75)
    reference.index([tokens for _, tokens in corpus], show_progress=False)
    view = store.view()
    for _ in range(30):
        query = list(dict.fromkeys(rng.choice(words, 4)))
        expected = reference.get_scores(query)
        best = {corpus[i][0]: expected[i] for i in np.argsort(-expected)[:20] if expected[i] > 0}
        hits = view.lexical(dict.fromkeys(query, 1.0), 20)
        assert [h.score for h in hits] == pytest.approx(sorted(best.values(), reverse=True), abs=1e-4)
        everything = dict(zip([child for child, _ in corpus], expected, strict=True))
        assert all(h.score == pytest.approx(everything[h.node_id], abs=1e-4) for h in hits)
        assert view.bm25(dict.fromkeys(query, 1.0), list(everything)) == pytest.approx(everything, abs=1e-4)


def test_no_match_is_no_row(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    """A row without a matching word is never returned, however many are asked for (run-llama/llama_index#13866)."""
    fill(record("kb-1"))
    view = store.view()
    assert view.lexical({"香蕉": 1.0}, 10) == []
    assert view.lexical({}, 10) == []
    assert ids(view.lexical({"红": 1.0}, 10)) == ["kb-1#1.1"]
    assert view.lexical({"红": 1.0}, 0) == []


def test_more_may_be_asked_for_than_there_is(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    """run-llama/llama_index#19568"""
    fill(record("kb-1"))
    assert len(store.view().lexical({"苹果": 1.0}, 1000)) == 2
    assert len(store.view().dense(vector_of("a"), 1000)) == 2


def test_query_weights_count(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb-1"))
    view = store.view()
    one = view.bm25({"红": 1.0}, ["kb-1#1.1"])["kb-1#1.1"]
    assert view.bm25({"红": 0.5}, ["kb-1#1.1"])["kb-1#1.1"] == pytest.approx(one / 2)


def test_dense_is_exact_cosine(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    records = [record(f"d{i}", [[f"文 {i} {j}。" for j in range(5)]]) for i in range(20)]
    for r in records:
        fill(r)
    query = vector_of("question")
    expected = {child: float(query @ v) for r in records for child, v in r.vectors.items()}
    best = sorted(expected, key=lambda child: -expected[child])
    view = store.view()
    hits = view.dense(query * 3, 10)
    assert ids(hits) == best[:10]
    assert [hit.score for hit in hits] == pytest.approx([expected[child] for child in best[:10]], abs=1e-4)
    assert view.cosine(query, best[50:60]) == pytest.approx({c: expected[c] for c in best[50:60]}, abs=1e-4)


def test_equal_scores_are_in_reading_order(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    for doc_id in ("d10", "d2", "d1"):
        fill(record(doc_id, [["同 样 的 话。", "同 样 的 话。"]]))
    expected = ["d1#1.1", "d1#1.2", "d10#1.1", "d10#1.2", "d2#1.1", "d2#1.2"]
    view = store.view()
    assert ids(view.lexical({"同": 1.0}, 4)) == expected[:4]
    same = view.dense(next(iter(record("d1", [["同 样 的 话。"]]).vectors.values())), 3)
    assert ids(same) == expected[:3]
    assert sorted(expected, key=view.position) == expected


def test_equal_vectors_score_alike_wherever_they_stand(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    """A matrix product rounds equal rows apart by their place, which would upset the reading order."""
    for i in range(12):
        fill(*(record(f"d{i:02}-{j:02}", [["同 样 的 话。", f"别 的 {i} {j}。"]]) for j in range(i)))
    view = store.view()
    hits = view.dense(vector_of("同 样 的 话。") + 0.3 * vector_of("x"), 66)
    assert len({hit.score for hit in hits}) == 1
    assert ids(hits) == sorted(ids(hits))
    assert view.cosine(vector_of("同 样 的 话。") + 0.3 * vector_of("x"), ids(hits)) == {
        hit.node_id: hit.score for hit in hits
    }
    words = view.lexical({"同": 1.0, "样": 0.3, "别": 0.7}, 132)
    assert view.bm25({"同": 1.0, "样": 0.3, "别": 0.7}, ids(words)) == {h.node_id: h.score for h in words}


def test_children_without_vector_are_found_by_words_alone(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    fill(record("a", vectors=False))
    assert store.view().dense(vector_of("x"), 5) == []
    fill(record("b"))
    view = store.view()
    assert sorted(ids(view.dense(vector_of("x"), 5))) == ["b#1.1", "b#1.2"]
    assert view.cosine(vector_of("x"), ["a#1.1"]) == {}
    assert len(view.lexical({"苹果": 1.0}, 9)) == 4


def test_a_query_vector_that_points_nowhere_finds_nothing(
    store: KnowledgeStore, fill: Fill, record: Record
) -> None:
    fill(record("a"))
    view = store.view()
    assert view.dense(np.zeros(16, dtype=np.float32), 5) == []
    assert view.dense(np.full(16, np.nan, dtype=np.float32), 5) == []


def test_frequencies_and_lengths_come_from_the_postings(
    store: KnowledgeStore, fill: Fill, record: Record
) -> None:
    fill(record("a", [["x x y "], ["z "]]))
    view = store.view()
    assert view.frequencies(["x", "q", "y"], ["a#2.1", "a#1.1"]).tolist() == [[0, 0, 0], [2, 0, 1]]
    assert view.lengths(["a#2.1", "a#1.1"]).tolist() == [1, 3]


def test_many_repeats_of_a_word_count_as_many(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a", [["词 " * 1000, "词 " * 300]]), record("b", [["词 别"]]))
    view = store.view()
    assert view.lengths(["a#1.1", "a#1.2"]).tolist() == [1000, 300]
    assert view.frequencies(["词"], ["a#1.1"]).tolist() == [[255]]
    assert store.check().ok


def test_codes_are_looked_up_with_child_ids(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    code = CodeMention("E1042", "e1042", "e1042", "code", "1042", True)
    mention = CodeMention("e-1042", "e1042", "e1042", "code", "1042", False)
    fill(
        record("b", codes={"b#1.2": [code]}, tenant="t1"),
        record("a", codes={"a#1.1": [mention]}),
    )
    codes = store.view().codes
    assert codes.holders("e1042") == [("a#1.1", False), ("b#1.2", True)]
    assert codes.exact("e1042").text == "E1042"
    assert [known.canonical for known in codes.number("1042")] == ["e1042"]
    assert codes.exact("e1043") is None
    assert [known.canonical for known in codes.near("e1043")] == ["e1042"]
    hidden = store.view(Scope(tenant="t2")).codes
    assert hidden.holders("e1042") == [("a#1.1", False)]
    assert hidden.exact("e1042").count == 1
    store.apply(Batch(deletes=(("a", None), ("b", None))))
    assert store.view().codes.exact("e1042") is None


# changes


def test_an_upsert_replaces_its_own_version_only(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("kb", version="1"), record("kb", version="2"))
    fill(record("kb", [["新 的 话。"]], version="2"))
    assert [(d.doc_id, d.version, d.n_children) for d in store.documents()] == [
        ("kb", "1", 2),
        ("kb", "2", 1),
    ]
    assert store.view().n_children == 3


def test_upserting_twice_makes_no_duplicates(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a"))
    fill(record("a"))
    view = store.view()
    assert view.n_children == 2
    assert len(view.lexical({"苹果": 1.0}, 10)) == 2


def test_two_documents_with_the_same_text_stay_two(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    """run-llama/llama_index#22706"""
    fill(record("a"), record("b"))
    assert len(store.view().lexical({"苹果": 1.0}, 10)) == 4
    store.apply(Batch(deletes=(("a", None),)))
    assert set(ids(store.view().lexical({"苹果": 1.0}, 10))) == {"b#1.1", "b#1.2"}


def test_what_is_deleted_is_gone_everywhere(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    """run-llama/llama_index#15529"""
    fill(record("a"), record("b"))
    store.apply(Batch(deletes=(("a", None), ("unknown", None))))
    view = store.view()
    assert view.n_children == 2
    assert {i[0] for i in ids(view.dense(vector_of("x"), 9)) + ids(view.lexical({"苹果": 1.0}, 9))} == {"b"}
    assert view.nodes(["a#1", "a#1.1"]) == {}
    assert view.document("a") is None
    assert view.bm25({"苹果": 1.0}, ["a#1.1"]) == {}
    assert store.fingerprints([("a", None)]) == {}
    fill(record("a"))
    assert store.view().n_children == 4


def test_a_view_never_changes(store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf) -> None:
    code = CodeMention("E1", "e1", "e1", "code", "1", True)
    old = record("a", [["旧 的 话。"]], codes={"a#1.1": [code]})
    fill(old, record("b", [["别 的 话。"]]))
    view = store.view()
    before = view.lexical({"话": 1.0}, 9), view.dense(vector_of("x"), 9), view.codes.holders("e1")
    fill(record("a", [["新 的 话。", "更 多 话。"]]), record("c"))
    store.apply(Batch(deletes=(("b", None),)))
    assert (view.lexical({"话": 1.0}, 9), view.dense(vector_of("x"), 9), view.codes.holders("e1")) == before
    assert view.nodes(["a#1.1"])["a#1.1"].text == "旧 的 话。"
    assert view.nodes(["a#1.2"]) == {}
    assert view.document("a") == old.document
    assert view.document("b") is not None
    assert view.n_children == 2
    assert store.view().nodes(["a#1.1"])["a#1.1"].text == "新 的 话。"


def test_a_generation_counts_commits(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    assert fill(record("a")) == 1
    assert fill(record("b")) == 2
    assert store.apply(Batch()) == 2
    assert store.apply(Batch(deletes=(("nothing", None),))) == 2
    assert store.view().generation == 2


def test_deletes_come_before_upserts(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a"))
    store.apply(Batch(upserts=(record("a", [["新 的。"]]),), deletes=(("a", None),)))
    assert store.view().n_children == 1


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (lambda r: {**r.vectors, "d#1.1": np.zeros(16, dtype=np.float32)}, "zero, NaN or infinite"),
        (lambda r: {**r.vectors, "d#1.1": np.full(16, np.nan, dtype=np.float32)}, "zero, NaN or infinite"),
        (lambda r: {**r.vectors, "d#1.1": np.ones(5, dtype=np.float32)}, "16 dimensions.* 5; all must"),
        (lambda r: dict.fromkeys(r.vectors, np.ones(5, dtype=np.float32)), "5 dimensions, the index 16"),
        (lambda r: {**r.vectors, "d#1.1": np.ones((2, 8), dtype=np.float32)}, r"shape \(2, 8\)"),
    ],
)
def test_a_bad_vector_changes_nothing(
    store: KnowledgeStore, fill: Fill, record: Record, change: Callable, error: str
) -> None:
    fill(record("a"))
    bad = record("d")
    bad = DocumentRecord(bad.document, bad.nodes, bad.tokens, {}, change(bad))
    with pytest.raises(EmbeddingError, match=error):
        store.apply(Batch(upserts=(record("b"), bad), deletes=(("a", None),)))
    assert [d.doc_id for d in store.documents()] == ["a"]
    assert store.view().generation == 1


def test_records_that_make_no_sense_are_refused(store: KnowledgeStore, record: Record) -> None:
    one = record("a")
    with pytest.raises(DocumentError, match="twice"):
        store.apply(Batch(upserts=(one, one)))
    with pytest.raises(DocumentError, match=r"valid_from.*'soon'.*ISO"):
        store.apply(Batch(upserts=(record("a", valid_from="soon"),)))
    with pytest.raises(DocumentError, match=r"vectors are given for 'a#1'"):
        store.apply(Batch(upserts=(DocumentRecord(one.document, one.nodes, vectors={"a#1": np.ones(16)}),)))
    twins = (one.nodes[1], one.nodes[1])
    with pytest.raises(DocumentError, match="two nodes with the id"):
        store.apply(Batch(upserts=(DocumentRecord(one.document, twins),)))
    with pytest.raises(DocumentError, match="object"):
        store.apply(Batch(upserts=(record("a", thing=object()),)))
    assert store.documents() == []


# bookkeeping


def test_fingerprints_tell_what_is_unchanged(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a", fingerprint="f1"), record("b", version="2", fingerprint="f2"))
    asked = [("a", None), ("b", None), ("b", "2"), ("c", None)]
    assert store.fingerprints(asked) == {("a", None): "f1", ("b", "2"): "f2"}
    assert store.fingerprints([]) == {}


def test_documents_are_listed_with_their_facts(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("b", root="/docs", source="b.md", title="乙"), record("a", [["x "], ["y ", "z "]]))
    a, b = store.documents()
    assert (a.doc_id, a.version, a.root, a.source, a.title, a.n_sections, a.n_children) == (
        "a",
        None,
        None,
        None,
        None,
        2,
        3,
    )
    assert (b.doc_id, b.root, b.source, b.title) == ("b", "/docs", "b.md", "乙")


def test_vectors_are_kept_by_the_hash_of_their_text(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    text = "没有 存 过 的 话"
    store.cache_vectors({embed_hash(text): vector_of(text)})
    fill(record("a", [["存 过 的 话。"]]))
    wanted = [embed_hash(text), embed_hash("存 过 的 话。"), embed_hash("别的")]
    found = store.cached_vectors(wanted)
    assert list(found) == wanted[:2] or set(found) == set(wanted[:2])
    assert found[wanted[0]] == pytest.approx(vector_of(text), abs=1e-4)
    store.apply(Batch(deletes=(("a", None),)))
    assert set(store.cached_vectors(wanted)) == set(wanted[:2])
    with pytest.raises(EmbeddingError):
        store.cache_vectors({embed_hash("x"): np.zeros(16, dtype=np.float32)})


def test_equal_texts_share_a_vector_but_other_vectors_are_kept_apart(
    store: KnowledgeStore, fill: Fill, record: Record, vector_of: VectorOf
) -> None:
    fill(record("a", [["同 话。"]]), record("b", [["同 话。"]]))
    assert store.stats()["vectors"] == 1
    other = record("c", [["同 话。"]])
    fill(DocumentRecord(other.document, other.nodes, other.tokens, {}, {"c#1.1": vector_of("else")}))
    view = store.view()
    assert ids(view.dense(vector_of("else"), 1)) == ["c#1.1"]
    assert ids(view.dense(vector_of("同 话。"), 2)) == ["a#1.1", "b#1.1"]


def test_meta_is_a_mapping_of_plain_values(store: KnowledgeStore) -> None:
    store.meta["analyzer"] = {"words": ["甲"], "n": 1}
    store.meta.update(embedding_name="m", embedding_dimension=16)
    assert store.meta.get("analyzer") == {"words": ["甲"], "n": 1}
    assert dict(store.meta) == {
        "analyzer": {"words": ["甲"], "n": 1},
        "embedding_dimension": 16,
        "embedding_name": "m",
    }
    del store.meta["analyzer"]
    assert store.meta.get("analyzer") is None
    with pytest.raises(KeyError):
        store.meta["nothing"]
    with pytest.raises(KeyError):
        store.meta["store.generation"]


def test_stats_count(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a", version="1"), record("a", version="2"), record("b"))
    stats = store.stats()
    wanted = ("documents", "versions", "sections", "children", "generation")
    assert [stats[name] for name in wanted] == [2, 3, 3, 6, 1]


def test_a_closed_store_says_so(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a"))
    view = store.view()
    store.close()
    store.close()
    for use in (
        store.view,
        store.documents,
        lambda: store.apply(Batch(upserts=(record("b"),))),
        lambda: view.nodes(["a#1"]),
    ):
        with pytest.raises(StorageError, match="closed"):
            use()


def test_threads_read_and_write_at_once(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    """While documents are replaced, every question finds each of them whole: the old or the new text."""
    fill(*(record(f"d{i}", [[f"第 {i} 篇 旧。"]]) for i in range(5)))
    failures: list[object] = []
    done = threading.Event()

    def ask() -> None:
        while not done.is_set():
            view = store.view()
            hits = view.lexical({"篇": 1.0}, 50)
            texts = view.nodes(ids(hits))
            if len(hits) != 5 or len(texts) != 5 or view.n_children != 5:
                failures.append((view.generation, hits, list(texts)))

    readers = [threading.Thread(target=ask) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for n in range(15):
            fill(record(f"d{n % 5}", [[f"第 {n} 篇 新 {n}。"]]))
    finally:
        done.set()
        for reader in readers:
            reader.join()
    assert failures == []


def test_relations_are_kept(store: KnowledgeStore, fill: Fill, record: Record) -> None:
    fill(record("a"))
    section = store.view().nodes(["a#1"])["a#1"]
    assert [child.node_id for child in section.child_nodes or []] == ["a#1.1", "a#1.2"]
    assert section.ref_doc_id == "a"
    assert NodeRelationship.PARENT not in section.relationships
