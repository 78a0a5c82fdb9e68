"""Which parts of a question that asks several things have evidence."""

from __future__ import annotations

from collections.abc import Sequence

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.answering.context.packing import Context
from gyr_hybrid.answering.measuring import measure
from gyr_hybrid.answering.weighing import word_weights
from gyr_hybrid.retrieval.parts import asks
from gyr_hybrid.retrieval.result import Retrieval, of_part


def evidence_of_parts(
    context: Context, sections: Sequence[set[str]], retrieval: Retrieval, analyzer: Analyzer
) -> dict[str, float]:
    """Part of the question -> evidence of the context for it alone; empty for a question of one part.

    Things that are compared (``升级和降级有什么区别``) are one question. A part that names an unknown code is left out:
    that code is named by itself.
    """
    runs = retrieval.run.variants if retrieval.run is not None else ()
    if not all(asks(run.query.query_str) for run in runs if run.kind == "part"):
        return {}
    found = {}
    for run in runs:
        if run.kind != "part" or any(code.status == "unknown" for code in run.codes):
            continue
        part = of_part(retrieval, run)
        text = run.query.query_str
        found[text] = measure(text, context, sections, word_weights(text, part, analyzer), part)
    return found
