"""Documents to LlamaIndex nodes: sections as parents, their children below."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cache, partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.bridge.pydantic import Field, PrivateAttr, ValidationError
from llama_index.core.node_parser import NodeParser
from llama_index.core.schema import BaseNode, Document, MetadataMode, TextNode

from gyr_hybrid.errors import ConfigurationError, DocumentError
from gyr_hybrid.parsing.identity import check_doc_id, document_version
from gyr_hybrid.parsing.nodes import document_nodes
from gyr_hybrid.parsing.sections import outline
from gyr_hybrid.parsing.sizes import Limits, Measure, Sizes
from gyr_hybrid.parsing.strategies import STRATEGIES, Children, Cutter, Strategy
from gyr_hybrid.parsing.units import UnitBuilder

if TYPE_CHECKING:
    from gyr_hybrid.analysis import Analyzer

_PLAIN_SUFFIXES = frozenset((".txt", ".text"))
_FIRST_CELL = re.compile(r"[ \t>]*\|?[ \t]*((?:\\.|[^|\\\n])*)")
_BARE_NUMBER = re.compile(r"\d{2,}")


class SectionNodeParser(NodeParser):
    """Cuts documents into sections and children of one to three sentences, with exact offsets.

    A section is a heading with its own text; its id is ``doc-id#1``, with a version ``doc-id@2#1``, and
    its children are ``doc-id#1.1`` and on. ``document.text[node.start_char_idx:node.end_char_idx]`` is
    ``node.text`` for all of them. Raises `DocumentError` for a bad or repeated id and for a document
    without text.

    >>> from llama_index.core import Document
    >>> nodes = SectionNodeParser().get_nodes_from_documents(
    ...     [Document(id_="kb-1", text="# 退款\\n\\n## 时限\\n\\n7 天内可退。")]
    ... )
    >>> [(node.id_, node.metadata["header_path"], node.start_char_idx) for node in nodes]
    [('kb-1#1', ['退款', '时限'], 6), ('kb-1#1.1', ['退款', '时限'], 6)]
    """

    flat_metadata: bool = Field(
        default=False, description="Join lists to text, for vector stores that take only scalars."
    )
    strategy: Strategy = Field(
        default="mixture",
        description="What a section is: mixture and structure follow headings, the others sizes or meaning.",
    )
    children: Children | None = Field(
        default=None, description="How a section is cut into children; None is the way of the strategy."
    )
    section_size: int | None = Field(
        default=None,
        description="The most that a section has; None is 800, or 256 where it is its own child.",
    )
    child_size: int = Field(default=128, description="The most that a child has.")
    measure: Measure = Field(default="tokens", description="What sizes count; blanks never.")
    overlap: int = Field(
        default=0, description="What a section repeats of the one before, where it is cut by size alone."
    )
    _analyzer: Analyzer | None = PrivateAttr(default=None)
    _embed_model: BaseEmbedding | None = PrivateAttr(default=None)

    def __init__(
        self,
        *,
        strategy: Strategy = "mixture",
        flat_metadata: bool = False,
        analyzer: Analyzer | None = None,
        embed_model: BaseEmbedding | None = None,
        **options: Any,
    ) -> None:
        if unknown := options.keys() - type(self).model_fields - {"class_name"}:
            name = min(unknown)
            near = get_close_matches(name, type(self).model_fields, n=1)
            raise TypeError(
                f"SectionNodeParser has no option {name!r}" + (f"; did you mean {near[0]!r}?" if near else "")
            )
        try:
            super().__init__(**{"strategy": strategy, "flat_metadata": flat_metadata, **options})
        except ValidationError as error:
            wrong = error.errors(include_url=False)[0]
            raise ConfigurationError(f"{wrong['loc'][0]}={wrong['input']!r}: {wrong['msg']}") from None
        self._analyzer = analyzer
        self._embed_model = embed_model
        self._check()

    def _check(self) -> None:
        plan = STRATEGIES[self.strategy]
        if min(self._limits.section, self._limits.child) < 1:
            raise ConfigurationError(
                f"section_size={self.section_size}, child_size={self.child_size}: at least 1"
            )
        if self.overlap and plan.sections not in ("fixed", "recursive"):
            raise ConfigurationError(
                f"overlap={self.overlap} does not go with strategy={self.strategy!r}, which cuts where the text does; "
                "leave it out, or take fixed, recursive or parent_child"
            )
        if self.children == "sentences" and plan.sections != "headings":
            raise ConfigurationError(
                f"children='sentences' does not go with strategy={self.strategy!r}; take mixture, or children='recursive'"
            )
        if not 0 <= 2 * self.overlap <= self._limits.section:
            raise ConfigurationError(
                f"overlap={self.overlap} must be between 0 and half of the section size {self._limits.section}"
            )
        if "semantic" in (plan.sections, self.children) and self._embed_model is None:
            raise ConfigurationError("semantic cutting compares sentences by vectors; pass embed_model=")

    @property
    def _limits(self) -> Limits:
        section = STRATEGIES[self.strategy].section_size if self.section_size is None else self.section_size
        return Limits(section, min(self.child_size, section), self.measure)

    @classmethod
    def class_name(cls) -> str:
        return "SectionNodeParser"

    def _parse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        from llama_index.core.utils import get_tqdm_iterable

        parsed: list[BaseNode] = []
        seen: set[tuple[str, str | None]] = set()
        with collector_paused():
            for document in get_tqdm_iterable(nodes, show_progress, "Parsing nodes"):
                key = (document.id_, document_version(document))
                if key in seen:
                    raise DocumentError(
                        f"Two documents have the id {key[0]!r} and the version {key[1]!r}; give each its own."
                    )
                seen.add(key)
                parsed.extend(self.parse(document))
        return parsed

    async def _aparse_nodes(
        self, nodes: Sequence[BaseNode], show_progress: bool = False, **kwargs: Any
    ) -> list[BaseNode]:
        return await asyncio.to_thread(self._parse_nodes, nodes, show_progress=show_progress, **kwargs)

    def _postprocess_parsed_nodes(
        self, nodes: list[BaseNode], parent_doc_map: dict[str, Document]
    ) -> list[BaseNode]:
        """The nodes as they are: LlamaIndex would search for their texts and overwrite the offsets."""
        return nodes

    def parse(self, document: BaseNode) -> list[TextNode]:
        """The nodes of one document, as ``get_nodes_from_documents`` gives them but without LlamaIndex's events."""
        check_doc_id(document.id_)
        text = document.get_content(MetadataMode.NONE)
        if not text.strip():
            raise DocumentError(f"The document {document.id_!r} has no text; leave it out or give it a body.")
        title = " ".join(str(document.metadata.get("title") or "").split()) or None
        shape = outline(text, title, plain=_is_plain(document))
        analyzer = self._analyzer or _default_analyzer()
        sizes = Sizes(text, self._limits)
        codes = partial(_code_spans, analyzer)
        embed = self._embed_model.get_text_embedding_batch if self._embed_model is not None else None
        cutter = Cutter(text, shape, sizes, codes, embed)
        plan = STRATEGIES[self.strategy]
        children = self.children or plan.children
        if plan.sections == "headings":
            builder = UnitBuilder(text, shape.lines, sizes, codes, partial(_is_code_table, analyzer))
            cut = cutter.by_headings(builder, children)
        else:
            cut = cutter.by_size(plan.sections, children, self.overlap)
        return document_nodes(
            document,
            text,
            list(cut),
            title=title or shape.title or _file_stem(document),
            flat=self.flat_metadata,
            link=self.include_prev_next_rel,
        )


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection within: it would walk over all nodes made so far again and again, a third of
    the time of a large folder. Parsing leaves no cycles behind."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@cache
def _default_analyzer() -> Analyzer:
    from gyr_hybrid.analysis import Analyzer

    return Analyzer()


def _code_spans(analyzer: Analyzer, text: str) -> list[tuple[int, int]]:
    return [(code.start, code.end) for code in analyzer.codes(text)]


def _is_code_table(analyzer: Analyzer, rows: Iterable[str]) -> bool:
    """At least half of the rows begin with a cell that is a code, and little else."""
    cells = [match[1].strip().strip("`*") for row in rows if (match := _FIRST_CELL.match(row))]
    return 2 * sum(_is_code(analyzer, cell) for cell in cells) >= max(len(cells), 1)


def _is_code(analyzer: Analyzer, cell: str) -> bool:
    if _BARE_NUMBER.fullmatch(cell):
        return True
    codes = analyzer.codes(cell) if cell else []
    return bool(codes) and 2 * sum(code.end - code.start for code in codes) > len(cell)


def _source_names(document: BaseNode) -> list[str]:
    keys = ("source", "file_name", "file_path")
    return [name for key in keys if isinstance(name := document.metadata.get(key), str)]


def _is_plain(document: BaseNode) -> bool:
    mimetype = getattr(getattr(document, "text_resource", None), "mimetype", None)
    if mimetype in ("text/plain", "text/markdown"):
        return bool(mimetype == "text/plain")
    return any(PurePosixPath(name).suffix.lower() in _PLAIN_SUFFIXES for name in _source_names(document))


def _file_stem(document: BaseNode) -> str | None:
    """What a document read by another reader is called, if that says it."""
    names = [document.metadata.get(key) for key in ("file_name", "file_path")]
    return next((PurePosixPath(name).stem for name in names if isinstance(name, str) and name), None)
