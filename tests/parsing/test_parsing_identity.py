"""Ids of documents and their versions."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from llama_index.core import Document

from gyr_hybrid.errors import DocumentError
from gyr_hybrid.parsing import check_doc_id, document_version
from gyr_hybrid.parsing.identity import encode_path


@given(st.text(min_size=1, max_size=30).filter(str.strip))
def test_every_path_gives_an_allowed_id(path: str) -> None:
    doc_id = encode_path(path)
    check_doc_id(doc_id)
    assert not set(doc_id) & set("#@[]【】,，;")
    assert doc_id == doc_id.strip()


@given(st.text(min_size=1, max_size=12), st.text(min_size=1, max_size=12))
def test_different_paths_give_different_ids(one: str, other: str) -> None:
    same = unicodedata.normalize("NFC", one) == unicodedata.normalize("NFC", other)
    assert (encode_path(one) == encode_path(other)) == same


@pytest.mark.parametrize("char", [*"#@[]【】,，;%", "\n", "\0", "\u2028"])
def test_reserved_characters_are_named_in_the_error(char: str) -> None:
    with pytest.raises(DocumentError, match="contains") as caught:
        check_doc_id(f"kb{char}1")
    assert repr(char) in str(caught.value)


@pytest.mark.parametrize("doc_id", ["", " ", " kb", "kb ", "\u3000kb"])
def test_blank_ends_are_refused(doc_id: str) -> None:
    with pytest.raises(DocumentError, match="id"):
        check_doc_id(doc_id)


def test_escapes_that_no_path_gives_are_refused() -> None:
    check_doc_id("C%23.md")
    for doc_id in ("a%41.md", "a%2f", "a%23%", "a%zz"):
        with pytest.raises(DocumentError, match="%"):
            check_doc_id(doc_id)


@pytest.mark.parametrize(
    ("value", "version"), [("2", "2"), (2, "2"), ("1.10", "1.10"), ("", None), (None, None)]
)
def test_the_version_is_text_or_none(value: object, version: str | None) -> None:
    assert document_version(Document(text="x", metadata={"version": value})) == version
    assert document_version(Document(text="x")) is None


@pytest.mark.parametrize("version", ["2#1", "a@b", " 2", "[1]"])
def test_a_version_that_would_break_ids_is_refused(version: str) -> None:
    with pytest.raises(DocumentError, match="version"):
        document_version(Document(text="x", metadata={"version": version}))
