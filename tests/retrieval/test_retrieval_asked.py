"""What is asked besides a code: words that its section has to contain, and words that it need not."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from llama_index.core import Document

from gyr_hybrid import HybridIndex
from gyr_hybrid.retrieval.asked import asked_besides, light
from gyr_hybrid.testing import HashEmbedding

PAGES = {
    "codes": """# 错误码一览

* Error Number: 7031 (PW001)

    进水压力过低。检查滤网。

* Error Number: 7032

    电机过热。等待冷却后再启动。
""",
    "options": """# 水泵配置

## `pump_dry_limit`

干转多少秒后停机，填 20 到 90。

## `pump_soft_start`

缓慢起动。
""",
    "delivery": "# 发货\n\n下单后两天内发货，日志与发票随箱。安装水泵由师傅上门。",
    "tables": "# PUMP_EVENTS\n\n`PUMP_EVENTS` 记录水泵的每次启停，含 EVENT_ID 与 STARTED_AT。",
}


@pytest.fixture(scope="module")
def index() -> Iterator[HybridIndex]:
    documents = [Document(text=text, id_=name) for name, text in PAGES.items()]
    with HybridIndex.from_documents(documents, offline=True, embed_model=HashEmbedding(16)) as built:
        yield built


@pytest.mark.parametrize(
    "question",
    [
        "错误码 7032 是什么意思，怎么处理？",
        "系统报错 ERROR 7032 (PW001) 怎么办",
        "日志里出现 7032 错误怎么处理",
        "控制台一直提示错误码7032，请问怎么解决",
        "怎么设置pump_dry_limit",
        "配置项 pump_dry_limit 有什么作用",
        "系统变量 pump_dry_limit 的默认值是多少",
        "PUMP_EVENTS 表有哪些字段",
        "pump_dry_limit 和 pump_soft_start 有什么区别",
        "what does error 7032 mean",
    ],
)
def test_asking_about_a_defined_code_is_answered(index: HybridIndex, question: str) -> None:
    answer = index.as_query_engine(mode="lexical").query(question)
    assert not answer.refused
    assert answer.citations


@pytest.mark.parametrize(
    "question",
    ["pump_dry_limit 什么时候发货", "PUMP_EVENTS 安装要师傅上门吗", "pump_soft_start 发票怎么开"],
)
def test_what_the_documents_say_elsewhere_is_not_answered_for_the_code(
    index: HybridIndex, question: str
) -> None:
    answer = index.as_query_engine(mode="lexical").query(question)
    assert (answer.refused, answer.refusal_reason) == (True, "no_evidence")


def left(index: HybridIndex, question: str, *, defined: bool = True) -> set[str]:
    result = index.as_retriever(mode="lexical").run(question)
    words = dict.fromkeys(index.analyzer.content_words(question), 1.0)
    return set(
        asked_besides(question, words, analyzer=index.analyzer, codes=result.codes, defined=defined)
    ) - {code.canonical for code in result.codes}


def test_aspects_of_a_definition_count_where_nothing_defines_the_code(index: HybridIndex) -> None:
    question = "pump_dry_limit 的默认值是多少"
    assert left(index, question) == set()
    assert left(index, question, defined=False) == {"默认值"}


def test_comparing_words_count_beside_one_code_only(index: HybridIndex) -> None:
    assert left(index, "pump_dry_limit 和 pump_soft_start 的区别") == set()
    assert left(index, "pump_dry_limit 的区别") == {"区别"}


def test_a_place_is_where_the_code_was_met_only_when_it_says_so(index: HybridIndex) -> None:
    assert "日志" not in left(index, "日志里出现 7032")
    assert "日志" in left(index, "7032 的日志怎么导出")


def test_the_lighter_words_of_a_large_index_weigh_little() -> None:
    assert light(10) == pytest.approx(0.25 * 3.0445, abs=1e-3)
    assert light(100_000) > 3.0
