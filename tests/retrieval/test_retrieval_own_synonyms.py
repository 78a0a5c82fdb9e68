"""The synonyms file of an index."""

from __future__ import annotations

from pathlib import Path

import pytest
from llama_index.core import Document

from gyr_hybrid import ConfigurationError, HybridIndex
from gyr_hybrid.testing import HashEmbedding


@pytest.fixture
def index(tmp_path: Path) -> HybridIndex:
    (tmp_path / "synonyms.txt").write_text("免邮费, 九十九元\n", encoding="utf-8")
    return HybridIndex.from_documents(
        [
            Document(text="# 快递\n\n门槛是九十九元。", id_="a"),
            Document(text="# 其他\n\n别的内容。", id_="b"),
        ],
        tmp_path,
        embed_model=HashEmbedding(32),
    )


def test_it_is_read_without_being_named_and_stands_in_explain(index: HybridIndex) -> None:
    with index:
        retriever = index.as_retriever(mode="lexical")
        assert [hit.node.node_id for hit in retriever.retrieve("免邮费")] == ["a#1"]
        explained = retriever.explain("免邮费")
        assert explained.to_dict()["synonyms"] == {"免邮费": ["九十九元"]}
        assert "synonyms: 免邮费 -> 九十九元  (weight 0.5)" in str(explained)
        assert index.as_query_engine(mode="lexical").retriever.retrieve("免邮费")


def test_what_is_given_takes_its_place(index: HybridIndex) -> None:
    with index:
        for given in ([], ["包邮, 门槛"]):
            assert index.as_retriever(mode="lexical", synonyms=given).retrieve("免邮费") == []


def test_a_line_that_cannot_be_read_is_named(index: HybridIndex, tmp_path: Path) -> None:
    with index:
        (tmp_path / "synonyms.txt").write_text("一个词\n", encoding="utf-8")
        with pytest.raises(ConfigurationError, match="一个词"):
            index.as_retriever()
