"""The verification pairs keep their form: enough of every kind, split by section."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

PAIRS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data/verification_pairs.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]
FALSE = "U_number U_code U_unit U_negation U_role U_condition U_sibling U_half U_common U_exagg"
TRUE = "S_verbatim S_close S_free S_numeral S_unit S_arith S_two"


def test_every_kind_has_forty_pairs_and_both_halves_hold_it() -> None:
    counts = Counter((pair["kind"], pair["split"]) for pair in PAIRS)
    assert {kind for kind, _ in counts} == set(f"{FALSE} {TRUE}".split())
    for kind in f"{FALSE} {TRUE}".split():
        assert counts[kind, "tune"] + counts[kind, "unseen"] >= 40, kind
        assert min(counts[kind, "tune"], counts[kind, "unseen"]) >= 20, kind


def test_truth_follows_from_the_kind() -> None:
    assert [pair["id"] for pair in PAIRS if pair["supported"] != pair["kind"].startswith("S_")] == []
    assert [pair["id"] for pair in PAIRS if pair["near"] and pair["supported"]] == []


def test_verbatim_sentences_stand_in_the_text_and_false_ones_do_not() -> None:
    for pair in PAIRS:
        if pair["kind"] == "S_verbatim":
            assert pair["sentence"] in pair["text"], pair["id"]
        elif not pair["supported"]:
            said = re.escape(pair["sentence"].rstrip("。."))
            assert not re.search(rf"(?<![未不非]){said}", pair["text"]), pair["id"]


def test_a_section_is_in_one_split_only() -> None:
    splits = defaultdict(set)
    for pair in PAIRS:
        splits[pair["text"]].add(pair["split"])
    assert [text for text, found in splits.items() if len(found) > 1] == []
    assert len(splits) >= 90


@pytest.mark.parametrize("split", ["tune", "unseen"])
def test_each_half_has_english_and_mixed_text(split: str) -> None:
    langs = Counter(pair["lang"] for pair in PAIRS if pair["split"] == split)
    assert langs["en"] >= 150
    assert langs["mixed"] >= 50


def test_ids_and_fields_are_whole() -> None:
    fields = "id split lang source title heading text sentence supported kind near"
    assert len({pair["id"] for pair in PAIRS}) == len(PAIRS) >= 640
    assert [pair["id"] for pair in PAIRS if set(pair) != set(fields.split())] == []
