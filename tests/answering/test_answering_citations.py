"""Citations: written by a template, read in every form, and never let through when they name nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gyr_hybrid.answering.context.citations import CitationParser
from gyr_hybrid.answering.context.labels import Source, check_format, format_label, section_number
from gyr_hybrid.errors import ConfigurationError

SOURCES = [
    Source("kb-002#4", "kb-002", 4, "[kb-002#4]"),
    Source("kb-002#1", "kb-002", 1, "[kb-002#1]"),
    Source("kb-015#2", "kb-015", 2, "[kb-015#2]"),
]
SHOP_FORMAT = "[source:{doc_id}#chunk-{n:03d}]"
SHOP = [
    Source("returns-cn#1", "returns-cn", 1, "[source:returns-cn#chunk-001]"),
    Source("returns-cn#3", "returns-cn", 3, "[source:returns-cn#chunk-003]"),
    Source("size-guide#1", "size-guide", 1, "[source:size-guide#chunk-001]"),
]
help_centre = CitationParser(SOURCES)
shop = CitationParser(SHOP, SHOP_FORMAT)


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("[kb-002#4]", ["kb-002#4"]),
        ("【kb-002#4】", ["kb-002#4"]),
        ("［kb-002#4］", ["kb-002#4"]),
        ("〔kb-002#4〕", ["kb-002#4"]),
        ("［ｋｂ－００２＃４］", ["kb-002#4"]),
        ("[KB-002#4]", ["kb-002#4"]),
        ("[ kb-002#4 ]", ["kb-002#4"]),
        ("(kb-002#4)", ["kb-002#4"]),
        ("（来源：kb-002#4）", ["kb-002#4"]),
        ("[来源: kb-002#4]", ["kb-002#4"]),
        ("[source: kb-002#4]", ["kb-002#4"]),
        ("[kb-002#4][kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4] [kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4, kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4，kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4；kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4、kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[kb-002#4 kb-002#1]", ["kb-002#4", "kb-002#1"]),
        ("[[kb-002#4]](https://help.example/kb-002)", ["kb-002#4"]),
        ("[1]", ["kb-002#4"]),
        ("【2】", ["kb-002#1"]),
        ("[1, 3]", ["kb-002#4", "kb-015#2"]),
        ("[来源2]", ["kb-002#1"]),
        ("[^1]", ["kb-002#4"]),
        ("[ID:2]", ["kb-002#1"]),
    ],
)
def test_every_form_is_read_and_taken_out(written: str, cited: list[str]) -> None:
    # run-llama/llama_index#13536, infiniflow/ragflow#8594: markers must be resolved, whatever their form
    for text in (f"款项原路退回{written}。", f"款项原路退回。{written}"):
        parsed = help_centre.parse(text)
        assert parsed.text == "款项原路退回。"
        assert list(parsed.cited) == cited


@pytest.mark.parametrize(
    ("written", "node_id"),
    [
        ("[kb-002#4#1]", "kb-002#4"),
        ("[kb-002#4.1]", "kb-002#4"),
        ("[kb-002#04]", "kb-002#4"),
        ("[kb-002 section 4]", "kb-002#4"),
        ("[kb-015]", "kb-015#2"),
    ],
)
def test_what_is_unambiguous_is_repaired(written: str, node_id: str) -> None:
    (reference,) = help_centre.parse(f"款项原路退回。{written}").references
    assert reference.node_id == node_id
    assert not reference.exact


@pytest.mark.parametrize(
    "written",
    [
        "[kb-002]",
        "[kb-002#9]",
        "[kb-999#1]",
        "[kb-999]",
        "[7]",
        "【0】",
        "[来源9]",
        "[Source 9]",
        "(kb-077#1)",
        "[kb-0024]",
    ],
)
def test_what_names_no_section_of_the_context_is_removed(written: str) -> None:
    # linagora/openrag#837, ItzCrazyKns/Vane#845: an invented number must not reach the reader
    parsed = help_centre.parse(f"款项原路退回{written}。")
    assert parsed.text == "款项原路退回。"
    assert parsed.cited == ()
    assert [r.node_id for r in parsed.references] == [None]


@pytest.mark.parametrize(
    "text",
    [
        "选择（可选）项。",
        "【注意】不退。",
        "见[帮助](https://help.example/a)。",
        "（2）提交。",
        "（2026-10-01 起）",
        "设为「文本」。",
    ],
)
def test_brackets_of_prose_stay(text: str) -> None:
    assert help_centre.parse(text).text == text


def test_ids_without_brackets_are_taken_out() -> None:
    # run-llama/llama_index PR 8722: models write "According to Source 2" outside brackets
    parsed = help_centre.parse("根据 kb-002#4，款项原路退回。")
    assert (parsed.text, parsed.cited) == ("款项原路退回。", ("kb-002#4",))
    parsed = help_centre.parse("According to [kb-002#4], refunds go back the same way.")
    assert (parsed.text, parsed.cited) == ("refunds go back the same way.", ("kb-002#4",))


def test_the_words_quoted_by_the_model_are_kept_apart() -> None:
    parsed = help_centre.parse("款项原路退回。[kb-002#4]<quote>款项原路退回</quote>")
    assert parsed.text == "款项原路退回。"
    assert parsed.quotes == ("款项原路退回",)


@pytest.mark.parametrize(
    ("written", "cited"),
    [
        ("[source:returns-cn#chunk-003]", ("returns-cn#3",)),
        ("【source：returns-cn#chunk-003】", ("returns-cn#3",)),
        ("[source:returns-cn#chunk-3]", ("returns-cn#3",)),
        ("[returns-cn#3]", ("returns-cn#3",)),
        ("[source:returns-cn#chunk-001, source:size-guide#chunk-001]", ("returns-cn#1", "size-guide#1")),
        ("[source:size-guide]", ("size-guide#1",)),
        ("[source:returns-cn]", ()),
        ("[source:returns-cn#chunk-009]", ()),
        ("[source:shipping#chunk-001]", ()),
    ],
)
def test_the_owner_s_template_is_read_as_freely(written: str, cited: tuple[str, ...]) -> None:
    parsed = shop.parse(f"七天内可以退货。{written}")
    assert (parsed.text, parsed.cited) == ("七天内可以退货。", cited)


def test_labels_follow_the_template() -> None:
    assert format_label("[{id}]", node_id="kb-002#4", doc_id="kb-002", number=4) == "[kb-002#4]"
    assert format_label(SHOP_FORMAT, node_id="returns-cn#1", doc_id="returns-cn", number=1) == (
        "[source:returns-cn#chunk-001]"
    )
    assert section_number("kb-002@2#12", 1) == 12
    assert section_number("5f0c-uuid", 3) == 3


@pytest.mark.parametrize("template", ["[{n}]", "[x]", "[{id]", "[{title}]", "[{id}{0}]", "[{id:03d}]"])
def test_a_template_that_cannot_name_a_section_is_an_error(template: str) -> None:
    with pytest.raises(ConfigurationError, match="citation_format"):
        check_format(template)


@given(st.text(max_size=60))
def test_no_label_of_the_context_survives_stripping(text: str) -> None:
    stripped = help_centre.strip(f"{text}[kb-002#4]{text}")
    assert "kb-002#4]" not in stripped
