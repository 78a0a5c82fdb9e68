"""The code map: keys, families, neighbours, what a scope sees, and views that stay as they were."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.storage.code_map import CodeMap
from gyr_hybrid.storage.code_neighbours import coarse_shape, code_shape, compact_key
from gyr_hybrid.storage.code_view import CodeView
from gyr_hybrid.storage.codes import CodeMention


def mention(
    text: str, *, defining: bool = False, number: str | None = None, kind: str = "code"
) -> CodeMention:
    canonical = text.lower()
    return CodeMention(text, canonical, compact_key(canonical), kind, number, defining)


def mapped(*texts: str) -> CodeMap:
    codes = CodeMap()
    for slot, text in enumerate(texts):
        codes.add(slot, [mention(text, defining=True)])
    return codes


def texts(found: list[object]) -> list[str]:
    return [one.text for one in found]  # type: ignore[attr-defined]


def test_a_code_is_found_by_its_canonical_and_its_compact_form() -> None:
    view = mapped("NS-X2-BLK-M", "E1042").view()
    assert view.exact("ns-x2-blk-m") == view.compact("nsx2blkm")[0]
    assert view.exact("nsx2blkm") is None
    assert view.exact("e1043") is None


def test_codes_that_differ_in_separators_alone_share_the_compact_form() -> None:
    view = mapped("LT1761-12", "LT176112", "LT1761-1.2").view()
    assert texts(view.compact("lt176112")) == ["LT1761-1.2", "LT1761-12", "LT176112"]


def test_numbers_inside_meet_whatever_their_leading_zeros() -> None:
    codes = CodeMap()
    codes.add(0, [mention("ORA-00942", number="00942"), mention("E942", number="942")])
    assert texts(codes.view().number("942")) == texts(codes.view().number("0942")) == ["E942", "ORA-00942"]


def test_the_spelling_is_the_defining_one_then_the_most_frequent() -> None:
    codes = CodeMap()
    for slot, text in enumerate(["e1042", "e1042", "E1042"]):
        codes.add(slot, [mention(text)])
    assert codes.view().exact("e1042").text == "e1042"  # type: ignore[union-attr]
    codes.add(3, [mention("E1042", defining=True)])
    known = codes.view().exact("e1042")
    assert known is not None
    assert (known.text, known.count) == ("E1042", 4)


def test_holders_are_slots_in_order_with_whether_they_define() -> None:
    codes = CodeMap()
    codes.add(2, [mention("E1042", defining=True), mention("E1042")])
    codes.add(0, [mention("E1042")])
    assert codes.view().holders("e1042") == [(0, False), (2, True)]
    assert codes.view().holders("e9") == []


def test_members_of_a_family_go_on_at_a_separator() -> None:
    view = mapped(
        "NS-X2-BLK-M", "NS-X2-BLK-L", "NS-X20-BLK-M", "NS-X2", "v6.5.3", "v6.5.10", "v6.50.1"
    ).view()
    assert texts(view.members("ns-x2")) == ["NS-X2-BLK-L", "NS-X2-BLK-M"]
    assert texts(view.members("nsx2")) == ["NS-X2-BLK-L", "NS-X2-BLK-M"]
    assert texts(view.members("v6.5")) == ["v6.5.3", "v6.5.10"]
    assert texts(view.members("ns-x2", anywhere=True)) == ["NS-X2-BLK-L", "NS-X2-BLK-M", "NS-X20-BLK-M"]
    assert texts(view.members("ns-x2", limit=1)) == ["NS-X2-BLK-L"]


def test_neighbours_are_the_nearest_then_those_of_the_same_prefix_and_shape() -> None:
    view = mapped("E1042", "E1043", "E2017", "F1044", "E10440", "NS-X2-BLK-M").view()
    assert texts(view.near("e1044")) == ["E10440", "E1042", "E1043", "F1044", "E2017"]
    assert texts(view.near("e1044", limit=2)) == ["E10440", "E1042"]
    assert texts(view.near("ns-x2-red-m")) == ["NS-X2-BLK-M"]
    assert texts(view.near("e-1044", distance=1)) == ["E10440", "E1042", "E1043", "F1044", "E2017"]
    assert view.near("zzzzzzzz") == []


def test_a_shape_is_known_by_its_pattern_or_by_its_first_letters_and_outline() -> None:
    view = mapped("E1042", "NS-X2-BLK-M", "E1").view()
    assert view.knows_shape("f9999")
    assert view.knows_shape("e12345")
    assert view.knows_shape("ns-x20-whit-xl")
    assert not view.knows_shape("gpt-4")
    assert not view.knows_shape("f123456")
    assert not mapped("E1042").view().knows_shape("e1042")


def test_a_scope_sees_neither_codes_nor_spellings_nor_counts_of_others() -> None:
    codes = CodeMap()
    codes.add(0, [mention("e1042")])
    codes.add(1, [mention("E1042", defining=True), mention("E1043", defining=True, number="1043")])
    view = codes.view(np.array([True, False]))
    known = view.exact("e1042")
    assert known is not None
    assert (known.text, known.count) == ("e1042", 1)
    assert view.holders("e1042") == [(0, False)]
    assert view.exact("e1043") is None
    assert view.number("1043") == []
    assert view.near("e1044") == [known]
    assert view.members("e10", anywhere=True) == [known]
    assert not view.knows_shape("e1042")
    assert list(view.all()) == [known]


def test_filters_decide_holders_alone() -> None:
    codes = mapped("E1042", "E1043")
    view = codes.view(None, np.array([False, True]))
    assert view.exact("e1042") is not None
    assert view.holders("e1042") == []
    assert view.holders("e1043") == [(1, True)]


def test_a_slot_beyond_the_mask_is_not_seen() -> None:
    codes = mapped("E1042", "E1043")
    assert codes.view(np.array([True])).exact("e1043") is None


def test_a_short_code_counts_once_a_visible_place_defines_it() -> None:
    codes = CodeMap()
    codes.add(0, [mention("E1", kind="short")])
    assert codes.view().exact("e1") is None
    codes.add(1, [mention("E1", kind="short", defining=True)])
    assert codes.view().exact("e1").count == 2  # type: ignore[union-attr]
    assert codes.view(np.array([True, False])).exact("e1") is None


def test_removing_forgets_and_adding_again_brings_back() -> None:
    codes = mapped("E1042", "E1043")
    codes.remove(0)
    codes.remove(7)
    assert codes.view().exact("e1042") is None
    assert codes.view().compact("e1042") == []
    assert len(codes) == 1
    codes.add(0, [mention("E1042")])
    assert texts(codes.view().compact("e1042")) == ["E1042"]
    assert len(codes) == 2


def test_a_view_stays_as_it_was() -> None:
    codes = mapped("E1042")
    before = codes.view()
    codes.add(1, [mention("E1042"), mention("E1043")])
    codes.remove(0)
    assert before.holders("e1042") == [(0, True)]
    assert before.exact("e1043") is None
    assert codes.view().holders("e1042") == [(1, False)]


def test_many_codes_are_found_across_old_and_new_ones() -> None:
    codes = CodeMap()
    for number in range(10_000):
        codes.add(number, [mention(f"E{number:05}", number=f"{number:05}", defining=True)])
    codes.remove(4_321)
    view = codes.view()
    assert len(codes) == len(list(view.all())) == 9_999
    assert view.exact("e04321") is None
    assert view.exact("e09999") is not None
    assert texts(view.near("e04321")) == ["E04320", "E04322", "E04323", "E04324", "E04325"]
    assert texts(view.members("e0999", 3, anywhere=True)) == ["E09990", "E09991", "E09992"]


@pytest.mark.parametrize(
    ("canonical", "shape", "outline"),
    [("ns-x2-blk-m", "aa-a9-aaa-a", "a-a9-a-a"), ("v6.5.3", "a9.9.9", "a9.9.9")],
)
def test_shapes(canonical: str, shape: str, outline: str) -> None:
    assert code_shape(canonical) == shape
    assert coarse_shape(shape) == outline


steps = st.lists(
    st.tuples(
        st.booleans(),
        st.integers(0, 5),
        st.lists(st.sampled_from(["A1001", "A1002", "A-1001", "B2"]), max_size=3),
    ),
    max_size=12,
)


@given(steps)
def test_after_any_changes_the_map_holds_what_its_slots_hold(
    changes: list[tuple[bool, int, list[str]]],
) -> None:
    codes, expected = CodeMap(), dict[int, set[str]]()
    views: list[tuple[CodeView, dict[int, set[str]]]] = []
    for adding, slot, held in changes:
        codes.remove(slot)
        expected.pop(slot, None)
        if adding:
            codes.add(slot, [mention(text) for text in held])
            expected[slot] = {text.lower() for text in held}
        views.append((codes.view(), {one: set(names) for one, names in expected.items()}))
    for view, slots in views:
        for canonical in ("a1001", "a1002", "a-1001", "b2"):
            holders = [slot for slot, names in sorted(slots.items()) if canonical in names]
            assert [slot for slot, _ in view.holders(canonical)] == holders
            assert (view.exact(canonical) is not None) == bool(holders)
        assert {known.canonical for known in view.all()} == set().union(*slots.values())
