"""Articles of laws: ``劳动合同法第三十三条`` among hundreds of laws that all have an article 33.

    python benchmarks/codes_laws.py FOLDER [--vectors] [--storage DIR] [--misses N] [--json FILE]

Asked as the questions stand (``第三十三条``) and again with Arabic numerals (``第33条``). The same article of any
edition of the law counts (editions share their first heading); where a law stands in several editions, the share
in which the newest one comes first is counted apart. The last lines are the figures.
"""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Sequence

from code_runs import Figures, arguments, build

from gyr_hybrid import Analyzer
from gyr_hybrid.evaluation import load_dataset
from gyr_hybrid.evaluation.judging import section_nodes

_ARTICLE = re.compile(r"第[零〇一二三四五六七八九十百千]+条")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")


def arabic(text: str, analyzer: Analyzer) -> str:
    """The same question with the article in Arabic numerals."""
    return _ARTICLE.sub(lambda found: analyzer.codes(f"# {found.group()}")[0].canonical, text)


def main(given: Sequence[str] | None = None) -> int:
    options = arguments(__doc__, given)
    data = load_dataset(options.folder)
    figures = Figures()
    editions: dict[str, list[str]] = defaultdict(list)
    titles = {document.id_: str(document.metadata["title"]) for document in data.documents}
    for doc_id, title in titles.items():
        editions[title].append(doc_id)
    dated = {doc_id: max(_DATE.findall(doc_id), default="") for doc_id in titles}
    articles: dict[str, set[str]] = {}

    def numbers(doc_id: str) -> set[str]:
        """The articles that a law has."""
        if doc_id not in articles:
            document = next(d for d in data.documents if d.id_ == doc_id)
            articles[doc_id] = {node.metadata["header_path"][-1] for node in section_nodes(document)}
        return articles[doc_id]

    with build(data.documents, options) as index:
        retriever = index.as_retriever(top_k=5)
        retriever.run("先问一句热热身 X-1")
        for name, spelled in (
            ("as written", lambda text: text),
            ("Arabic numerals", lambda t: arabic(t, index.analyzer)),
        ):
            marks, newest = [], []
            for question in data.questions:
                if question.labels.get("kind") != "article_lookup":
                    continue
                doc_id, article = question.lines[0][0], question.labels["article"]
                text = spelled(question.text)
                with figures.timed():
                    hits = retriever.retrieve(text)
                found = [(hit.node.metadata["doc_id"], hit.node.metadata["header_path"][-1]) for hit in hits]
                accepted = editions[titles[doc_id]]
                marks.append(bool(found) and found[0][0] in accepted and found[0][1] == article)
                having = [d for d in accepted if article in numbers(d)] if len(accepted) > 1 else []
                if len(having) > 1:
                    newest.append(bool(found) and found[0][0] == max(having, key=lambda d: dated[d]))
                if not marks[-1] or (len(having) > 1 and not newest[-1]):
                    figures.misses.append(f"{name}: {text!r} wants {doc_id}, {article}, got {found[:3]}")
            figures.share(f"right article first, {name}", marks, least=0.97)
            figures.share(f"newest edition first, {name}", newest)
    return figures.finish(options)


if __name__ == "__main__":
    sys.exit(main())
