"""Natural questions of product FAQs: is any of them refused because of a word that looks like a code?

    python benchmarks/codes_faq.py FOLDER [--vectors] [--storage DIR] [--misses N] [--json FILE]

Every question has an answer in the passages, but some name a code-shaped string that no passage holds. Refusals
for an unknown code are counted, over all questions and over those; refusals for want of evidence apart. The last
lines are the figures.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence

from code_runs import Figures, arguments, build

from gyr_hybrid.evaluation import load_dataset


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(__doc__, given)
    data = load_dataset(options.folder)
    figures = Figures()
    with build(data.documents, options) as index:
        retriever, engine = index.as_retriever(), index.as_query_engine()
        reasons: Counter[str] = Counter()
        absent, absent_refused, hits = 0, 0, []
        for question in data.questions:
            with figures.timed():
                result = retriever.run(question.text)
            found = [hit.node.metadata["doc_id"] for hit in result.nodes]
            hits.append(bool(found) and found[0] in question.documents)
            answer = engine.query(question.text)
            unknown = answer.refusal_reason == "unknown_identifier"
            has_absent = any(code.status == "unknown" for code in result.codes)
            absent += has_absent
            absent_refused += has_absent and unknown
            reasons[str(answer.refusal_reason)] += 1
            if has_absent or answer.refused:
                named = [(c.text, c.status, c.class_word, c.named) for c in result.codes]
                figures.misses.append(f"{answer.refusal_reason}: {question.text!r} {named}")
        n = len(data.questions)
        figures.share("right passage first", hits)
        figures.count("questions with an unknown code", absent)
        figures.count("of these refused as unknown", absent_refused)
        figures.values["share of all refused as unknown"] = reasons["unknown_identifier"] / n
        figures.bars["share of all refused as unknown"] = 0.01, False
        figures.count("refused for want of evidence", reasons["no_evidence"])
        figures.count("questions", n)
    return figures.finish(options)


if __name__ == "__main__":
    sys.exit(main())
