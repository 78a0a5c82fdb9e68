"""The quality floor's questions name sections that exist, and every kind of question is there."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

DATA = Path(__file__).resolve().parents[1] / "data"
QUERIES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/floor/queries.jsonl").read_text(encoding="utf-8").splitlines()
]


def test_every_kind_of_question_is_there() -> None:
    assert len(QUERIES) >= 60
    counts = Counter(query["kind"] for query in QUERIES)
    assert set(counts) == {"exact_code", "paraphrase", "sibling", "two_section", "unanswerable"}
    assert min(counts.values()) >= 8
    assert {query["kb"] for query in QUERIES} == {"helpcenter", "novashop"}
    assert (
        len({query["_id"] for query in QUERIES}) == len({query["text"] for query in QUERIES}) == len(QUERIES)
    )


def test_sections_exist_where_a_question_can_be_answered() -> None:
    for query in QUERIES:
        assert query["answerable"] == bool(query["sections"]) == (query["kind"] != "unanswerable"), query[
            "_id"
        ]
        for section in query["sections"]:
            doc_id, number = section.split("#")
            text = (DATA / query["kb"] / f"{doc_id}.md").read_text(encoding="utf-8")
            assert 1 <= int(number) <= text.count("\n## "), section
        if query["kind"] == "two_section":
            assert len(query["sections"]) == 2, query["_id"]
