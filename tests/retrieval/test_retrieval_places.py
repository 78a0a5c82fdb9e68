"""Among sections that define a code, the one that is about it comes first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.retrieval.legs import find_holders
from gyr_hybrid.retrieval.places import (
    BRIEF,
    CELL_HOLDS,
    CELL_IS,
    HEADING_HOLDS,
    HEADING_IS,
    HEADING_LEADS,
    LINE_LEADS,
    LOGGED,
    OWN_LINE,
    PASSED_BY,
    Places,
)
from gyr_hybrid.testing import HashEmbedding

PUMP = """# 水泵控制器手册

## 参数总表

| 参数 | 设置 | 默认值 |
|---|---|---|
| pump_soft_start | 设置后缓慢起动，怎么设置见各节 | 3 |
| pump_dry_limit | 设置干转保护，默认值见下 | 20 |
| pump_restart_wait | 设置重启间隔 | 60 |

### `pump_dry_limit` <span class="mark">从 v2.4.0 版本开始引入</span>

干转多少秒后停机。

### pump-relief-valve 从 v2.5.0 版本开始引入

泄压阀在停机后打开。

## 报警

* Error Number: 7031 (PW001)

    进水压力过低。检查滤网。

* Error Number: 7032

    电机过热。等待冷却。

停机时屏幕显示：

```
ALARM 7033: phase lost
```

- `Alarm 7034: valve stuck`：阀门卡住，拆开清洗。

设置 `pump_restart_wait` 时遇到报警，先复位。
"""
NEWS = """# 2.4 版说明

| 变更 | 怎么设置 |
|---|---|
| 新增 `pump_dry_limit`，默认值 20 秒，用于干转保护，怎么设置见手册 | 设置默认值 |
| 报警 7032 不再自动复位 | 无 |

## W-7032 与 W-7040 的区别

两者都是过热。

## 报警 W-7041

风扇停转。

### W-7042 的处理

换风扇。

## W-7041：风扇

仍然停转。
"""


@pytest.fixture(scope="module")
def index() -> Iterator[HybridIndex]:
    documents = [Document(text=PUMP, id_="pump"), Document(text=NEWS, id_="news")]
    with HybridIndex.from_documents(documents, offline=True, embed_model=HashEmbedding(16)) as built:
        yield built


def grades(index: HybridIndex, question: str) -> dict[str, float]:
    """Section's last heading -> grade, for the sections that are graded above 0."""
    run = index.as_retriever(mode="lexical", top_k=20).run(question).run
    assert run is not None
    units = [unit for unit, _ in run.order]
    found = Places(find_holders(run.codes, run.view), run.analyzer, run.view).grades(
        units, run.view.children(units)
    )
    paths = run.view.header_paths(units)
    return {path[-1]: grade for path, grade in zip(paths, found, strict=True) if grade}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "pump_dry_limit",
            {
                "pump_dry_limit 从 v2.4.0 版本开始引入": HEADING_IS,
                "参数总表": CELL_IS,
                "2.4 版说明": CELL_HOLDS,
            },
        ),
        ("pump-relief-valve", {"pump-relief-valve 从 v2.5.0 版本开始引入": HEADING_IS}),
        ("报警 7032", {"报警": OWN_LINE}),
        ("Alarm 7033", {"报警": LOGGED}),
        ("Alarm 7034", {"报警": LINE_LEADS}),
        ("W-7041", {"报警 W-7041": HEADING_IS, "W-7041：风扇": HEADING_LEADS, "W-7042 的处理": PASSED_BY}),
        ("W-7040", {"W-7032 与 W-7040 的区别": HEADING_HOLDS}),
    ],
)
def test_a_section_is_graded_by_the_best_place_of_the_code(
    index: HybridIndex, question: str, expected: dict[str, float]
) -> None:
    found = grades(index, question)
    assert {heading: found[heading] for heading in expected} == pytest.approx(expected, abs=BRIEF)
    assert max(found, key=lambda heading: found[heading]) in expected


def test_a_version_in_a_remark_is_not_what_the_heading_is_about(index: HybridIndex) -> None:
    found = grades(index, "v2.4.0")
    assert found["pump_dry_limit 从 v2.4.0 版本开始引入"] == PASSED_BY


def test_of_two_headings_that_hold_the_code_the_shorter_is_more_about_it() -> None:
    text = "# 手册\n\n## 换用 RX-2210 以后怎样校准温度\n\n先预热。\n\n## 关于 RX-2210\n\n温控器。\n"
    document = Document(text=text, id_="manual")
    with HybridIndex.from_documents([document], offline=True, embed_model=HashEmbedding(16)) as built:
        found = grades(built, "RX-2210")
    assert found["关于 RX-2210"] > found["换用 RX-2210 以后怎样校准温度"] > HEADING_HOLDS


@pytest.mark.parametrize(
    "question",
    [
        "pump_dry_limit",
        "怎么设置pump_dry_limit",
        "参数 pump_dry_limit 的默认值是多少",
        "Ｐｕｍｐ＿Ｄｒｙ＿Ｌｉｍｉｔ 有什么作用",
        "pump dry limit",
    ],
)
def test_the_section_headed_by_the_code_precedes_tables_that_repeat_the_question(
    index: HybridIndex, question: str
) -> None:
    hits = index.as_retriever(mode="lexical").retrieve(question)
    assert hits[0].node.metadata["header_path"][-1].startswith("pump_dry_limit")


def test_words_of_weight_beside_the_code_still_decide(index: HybridIndex) -> None:
    hits = index.as_retriever(mode="lexical").retrieve("2.4 版说明里 pump_dry_limit 的变更")
    assert hits[0].node.metadata["header_path"] == ["2.4 版说明"]


def test_places_are_explained(index: HybridIndex) -> None:
    run = index.as_retriever(mode="lexical").run("W-7041").run
    assert run is not None
    assert run.levels[run.order[0][0]] == (2, 1)
    assert run.features[run.order[0][0]]["about"] >= run.features[run.order[-1][0]].get("about", 0.0)
