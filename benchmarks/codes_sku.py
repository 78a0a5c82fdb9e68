"""Part numbers in every spelling: is the right record first, and is an absent number said to be absent?

    python benchmarks/codes_sku.py FOLDER [--vectors] [--storage DIR] [--misses N] [--json FILE]

``queries.jsonl`` names a ``form`` per question: ``two`` (both records must be the first two), ``prefix`` (all
records that begin so must be in the first ten), any other (a right record must be first). ``absent.jsonl``:
numbers that occur nowhere, with the real one ``near`` that must not be claimed. The last lines are the figures.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Sequence

from code_runs import Figures, arguments, build, refused_as_unknown

from gyr_hybrid.evaluation import Question, load_dataset

BARS = {"two": 0.98, "prefix": 0.95}
LEAST = 0.99  # of every other form


def right(question: Question, found: Sequence[str]) -> bool:
    wanted = set(question.documents)
    form = question.labels.get("form")
    if form == "two":
        return set(found[:2]) == wanted
    return wanted <= set(found[:10]) if form == "prefix" else found[:1] != [] and found[0] in wanted


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(__doc__, given)
    data = load_dataset(options.folder)
    figures = Figures()
    with build(data.documents, options) as index:
        retriever = index.as_retriever(top_k=10)
        retriever.run("先问一句热热身 X-1")
        marks: dict[str, list[bool]] = defaultdict(list)
        for question in (q for q in data.questions if q.answerable):
            with figures.timed():
                result = retriever.run(question.text)
            found = [hit.node.metadata["doc_id"] for hit in result.nodes]
            form = question.labels["form"]
            marks[form].append(right(question, found))
            if not marks[form][-1]:
                codes = [(c.text, c.status, [m.text for m in c.matches][:4]) for c in result.codes]
                figures.misses.append(
                    f"{form}: {question.text!r} wants {sorted(question.documents)}, got {found[:3]}, {codes}"
                )
        for form, kept in marks.items():
            figures.share(form, kept, least=BARS.get(form, LEAST))
        engine = index.as_query_engine()
        unknown, claimed = [], 0
        for question in (q for q in data.questions if not q.answerable):
            answer = engine.query(question.text)
            unknown.append(refused_as_unknown(answer))
            claimed += bool(answer.source_nodes)
            if not unknown[-1]:
                figures.misses.append(
                    f"absent: {question.text!r} {answer.refusal_reason} {answer.response!r:.80}"
                )
        figures.share("absent, said to be unknown", unknown, least=1.0)
        figures.count("absent, another part claimed", claimed, most=0)
    return figures.finish(options)


if __name__ == "__main__":
    sys.exit(main())
