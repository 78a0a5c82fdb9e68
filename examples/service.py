"""A small HTTP service whose answers stream sentence by sentence, each checked before it leaves.

    pip install fastapi uvicorn
    gyr-hybrid index data/helpcenter
    uvicorn --app-dir examples service:app

    curl -NG http://127.0.0.1:8000/ask --data-urlencode 'q=报错E1042，怎么办'

The tenant comes from your own authentication, never from the question; here from a header, to keep the example short.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Annotated

from fastapi import FastAPI, Header, Query
from fastapi.responses import StreamingResponse

from gyr_hybrid import HybridIndex


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncGenerator[None]:
    with HybridIndex.open(os.environ.get("KNOWLEDGE", "storage"), read_only=True) as index:
        app.state.index = index
        yield


app = FastAPI(lifespan=lifespan)


@app.get("/ask")
async def ask(
    q: Annotated[str, Query(max_length=2000)], x_tenant: Annotated[str | None, Header()] = None
) -> StreamingResponse:
    engine = app.state.index.as_query_engine(streaming=True, tenant=x_tenant, principals=[])
    answer = await engine.aquery(q)

    async def events() -> AsyncGenerator[str]:
        async for sentence in answer.response_gen:
            yield f"event: sentence\ndata: {json.dumps(sentence, ensure_ascii=False)}\n\n"
        final = {
            "refused": answer.refused,
            "reason": answer.refusal_reason,
            "citations": [asdict(citation) for citation in answer.citations],
            "warnings": answer.warnings,
        }
        yield f"event: end\ndata: {json.dumps(final, ensure_ascii=False)}\n\n"

    return StreamingResponse(events(), media_type="text/event-stream")
