"""What a question says about the nodes of anyone's retriever: its codes among theirs, and which node bears which."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.schema import NodeWithScore

from gyr_hybrid.analysis import Analyzer
from gyr_hybrid.retrieval.candidates import Candidates
from gyr_hybrid.retrieval.code_lookup import resolve_codes
from gyr_hybrid.retrieval.result import Retrieval


def retrieval_of(question: str, nodes: Sequence[NodeWithScore], analyzer: Analyzer) -> Retrieval:
    """A retrieval whose index is these nodes: a code that none of them bears is unknown, theirs are suggested."""
    view = Candidates([hit.node for hit in nodes], analyzer)
    codes = tuple(
        resolve_codes(question, analyzer, view.codes, said=lambda token: bool(view.lexical({token: 1.0}, 1)))
    )
    if not codes:
        return Retrieval(list(nodes), query=question)
    borne: dict[str, set[str]] = {unit: set() for unit in view.units}
    for code in view.codes.all():
        for child, _ in view.codes.holders(code.canonical):
            (unit,) = view.parents([child]).values()
            borne[unit].add(code.canonical)
    wanted = {match.canonical for code in codes for match in code.matches}
    return Retrieval(
        list(nodes),
        codes=codes,
        bearing={unit: frozenset(held & wanted) for unit, held in borne.items()},
        all_codes={unit: frozenset(held) for unit, held in borne.items()},
        query=question,
    )
