"""Articles by number and the name of what they stand in, the newest edition first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.retrieval.references import name_overlap, name_shares
from gyr_hybrid.testing import HashEmbedding


def rules(title: str, third: str) -> str:
    return f"# {title}\n\n## 第一章 总则\n\n第一条 为规范车间用水，制定本规定。\n\n第二条 本规定适用于全厂。\n\n第三条 {third}\n"


PAGES = {
    "rules/water": rules("青禾厂用水规定", "每月五日抄表。"),
    "rules/reuse-water": rules("青禾厂循环用水规定", "循环水每周化验，用水规定另行。"),
    "rules/power(2021-05-01)": rules("青禾厂用电规定", "用电每日抄表。"),
    "rules/power(2024-05-01)": rules("青禾厂用电规定", "用电每小时自动抄表。"),
    "rules/gas": rules(
        "青禾厂用气办法（试行）", "用气每周抄表。依用水规定第三条、用电规定第三条办理用水用电。"
    ),
}


@pytest.fixture(scope="module")
def index() -> Iterator[HybridIndex]:
    documents = [Document(text=text, id_=name) for name, text in PAGES.items()]
    documents += [
        Document(
            text=rules("青禾厂门卫守则", f"夜间{version}点关门。"),
            id_=f"guard-{version}",
            metadata={"title": "青禾厂门卫守则", "updated_at": updated},
        )
        for version, updated in (("十", "2025-02-01"), ("九", "2023-02-01"))
    ]
    with HybridIndex.from_documents(documents, offline=True, embed_model=HashEmbedding(16)) as built:
        yield built


@pytest.mark.parametrize(
    ("question", "document"),
    [
        ("用水规定第三条", "rules/water"),
        ("青禾厂用水规定第3条讲什么", "rules/water"),
        ("《循环用水规定》第三条的内容是什么", "rules/reuse-water"),
        ("请问循环用水规定 第３条 怎么说", "rules/reuse-water"),
        ("用气办法第三条", "rules/gas"),
        ("用电规定第三条", "rules/power(2024-05-01)"),
        ("用电规定第三条每日抄表", "rules/power(2021-05-01)"),
        ("门卫守则第三条是什么", "guard-十"),
    ],
)
def test_the_named_document_comes_first_and_its_newest_edition_before_others(
    index: HybridIndex, question: str, document: str
) -> None:
    hit = index.as_retriever(mode="lexical").retrieve(question)[0].node
    assert (hit.metadata["doc_id"], hit.metadata["header_path"][-1]) == (document, "第三条")


def test_editions_follow_each_other(index: HybridIndex) -> None:
    hits = index.as_retriever(mode="lexical").retrieve("用电规定第三条的内容")
    assert [hit.node.metadata["doc_id"] for hit in hits[:2]] == [
        "rules/power(2024-05-01)",
        "rules/power(2021-05-01)",
    ]
    scores = [hit.score for hit in hits]
    assert scores == sorted(scores, reverse=True)


def test_names_are_compared_from_their_ends() -> None:
    assert name_overlap("用水规定", ["用水规定", "第三条"]) == (4, 4)
    assert name_overlap("请问用水规定", ["循环用水规定", "第一章 用水规定", "第三条"]) == (4, 6)
    assert name_overlap("用水规定", ["用水规定（2021）", "第三条"]) == (4, 4)
    assert name_overlap("x 定", ["用水规定", "第三条"]) == (0, 0)  # one character is no name


def test_the_shortest_title_that_holds_the_name_is_meant() -> None:
    paths = [["用水规定", "第三条"], ["循环用水规定", "第三条"], ["用电规定", "第三条"], []]
    assert name_shares("用水规定", paths) == [1.0, pytest.approx(4 / 6), pytest.approx(0.5), 0.0]
    assert name_shares("用水规定", [["目录"], []]) == [0.0, 0.0]
