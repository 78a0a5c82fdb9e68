"""Identifiers of a technical documentation: does the section that defines one come first?

    python benchmarks/codes_docs.py FOLDER [--vectors] [--storage DIR] [--misses N] [--json FILE]

Error numbers, named errors, options, system variables, tables, releases, bare and inside sentences; each question
has judged lines in one page. ``absent.jsonl``: identifiers one edit from real ones, to be refused. The last lines
are the figures.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence

from code_runs import Figures, arguments, build, refused_as_unknown
from llama_index.core.schema import NodeWithScore

from gyr_hybrid.evaluation import load_dataset
from gyr_hybrid.evaluation.judging import line_span


def overlaps(hit: NodeWithScore, doc_id: str, start: int, end: int) -> bool:
    node = hit.node
    return bool(
        node.metadata["doc_id"] == doc_id and node.start_char_idx < end and start < node.end_char_idx  # type: ignore[attr-defined]
    )


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(__doc__, given)
    data = load_dataset(options.folder)
    documents = {document.id_: document for document in data.documents}
    figures = Figures()
    with build(data.documents, options) as index:
        retriever, engine = index.as_retriever(top_k=5), index.as_query_engine()
        retriever.run("先问一句热热身 X-1")
        first: dict[str, list[bool]] = defaultdict(list)
        five, refused = [], 0
        for question in (q for q in data.questions if q.answerable):
            doc_id, begin, end = question.lines[0]
            span = line_span(documents[doc_id], begin, end)
            with figures.timed():
                result = retriever.run(question.text)
            hits = [overlaps(hit, doc_id, *span) for hit in result.nodes]
            kind = question.labels["kind"]
            first[kind].append(hits[:1] == [True])
            five.append(any(hits))
            if not first[kind][-1]:
                found = [hit.node.node_id for hit in result.nodes][:3]
                codes = [(c.text, c.status, [m.text for m in c.matches][:3]) for c in result.codes]
                figures.misses.append(
                    f"{kind}: {question.text!r} wants {doc_id}:{begin}-{end} "
                    f"({'in five' if five[-1] else 'lost'}), got {found}, {codes}"
                )
            answer = engine.query(question.text)
            refused += answer.refused
            if answer.refused:
                figures.misses.append(
                    f"{kind}: {question.text!r} refused: {answer.refusal_reason}, {answer.evidence:.2f}"
                )
        for kind, marks in first.items():
            figures.share(f"first, {kind}", marks)
        figures.share("first", [mark for marks in first.values() for mark in marks], least=0.92)
        figures.share("in the first five", five, least=0.97)
        figures.count("wrongly refused", refused, most=0)
        missed = 0
        for question in (q for q in data.questions if not q.answerable):
            answer = engine.query(question.text)
            if not refused_as_unknown(answer):
                missed += not answer.refused
                figures.misses.append(
                    f"absent: {question.text!r} {answer.refusal_reason} {answer.response!r:.80}"
                )
        figures.count("absent, answered", missed, most=1)
        figures.values["absent"] = sum(not q.answerable for q in data.questions)
    return figures.finish(options)


if __name__ == "__main__":
    sys.exit(main())
