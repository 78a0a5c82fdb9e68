"""Strange answers: what a model may write, and what a reader sees of it.

`strange_answers.jsonl` holds one answer a line: what the model ``said``, what is ``shown``, and why it is ``refused``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Document

from gyr_hybrid import CitedResponse, HybridIndex
from gyr_hybrid.testing import HashEmbedding, ScriptedLLM

ROWS = [
    json.loads(line)
    for line in Path(__file__).with_name("strange_answers.jsonl").read_text(encoding="utf-8").splitlines()
]
QUESTION = "退款怎么申请，几天到账，年付套餐多久可以退款"
DOCUMENTS = {
    "kb-002": """# 退款规则

## 申请条件

年付套餐购买后 7 天内可以全额退款。月付套餐不支持退款。

## 到账时间

退款会在 3 个工作日内原路退回。信用卡支付的退款需要 5 个工作日到账。

## 申请步骤

1. 打开设置页面，点击「订阅管理」。
2. 选择需要退款的订单，填写退款原因后提交申请。
""",
    "kb-005": """# 配送说明

## 配送时效

| 地区 | 时效 | 运费 |
|---|---|---|
| 华东 | 2 天 | 免运费 |
| 西北 | 5 天 | 10 元 |
""",
    "kb-007": """# 命令行

## 重建索引

```bash
yunbu reindex --all
```

重建需要约 10 分钟，期间不能写入。
""",
}


@pytest.fixture(scope="module")
def index() -> Iterator[HybridIndex]:
    documents = [Document(text=text, id_=name) for name, text in DOCUMENTS.items()]
    with HybridIndex.from_documents(documents, embed_model=HashEmbedding()) as index:
        yield index


@pytest.mark.parametrize("row", ROWS, ids=range(len(ROWS)))
def test_what_is_shown_of_a_strange_answer(index: HybridIndex, row: dict[str, Any]) -> None:
    llm = ScriptedLLM(row["said"])
    answer = index.as_query_engine(llm, judge=None, max_retries=0).query(QUESTION)
    assert isinstance(answer, CitedResponse)
    assert answer.refusal_reason == row["refused"]
    if not answer.refused:
        assert str(answer) == row["shown"]
    for citation in answer.citations:
        text = index.document(citation.doc_id).text
        assert text[citation.start_char : citation.end_char] == citation.quote
    assert [len(re.findall(r"\*\*", line)) % 2 for line in str(answer).split("\n")].count(1) == 0
    stream = (
        index.as_query_engine(llm, judge=None, max_retries=0, streaming=True).query(QUESTION).get_response()
    )  # type: ignore[union-attr]
    assert isinstance(stream, CitedResponse)
    assert str(stream) == str(answer)
    assert [c.quote for c in stream.citations] == [c.quote for c in answer.citations]
