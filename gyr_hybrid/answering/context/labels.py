"""Labels of sections by the owner's template: in the context, in the answer and for the parser alike."""

from __future__ import annotations

import re
import string
from dataclasses import dataclass

from gyr_hybrid.errors import ConfigurationError

DEFAULT_FORMAT = "[{id}]"
_FIELDS = frozenset({"id", "doc_id", "n"})


@dataclass(frozen=True, slots=True)
class Source:
    """A section of the context and how it is cited."""

    node_id: str
    doc_id: str
    number: int
    """The section's number in its document; its place in the context for nodes without one."""
    label: str
    """As printed in the context and in the answer."""


def check_format(template: str) -> str:
    """Return ``template`` if it can label sections, else raise `ConfigurationError`."""
    try:
        fields = [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]
        format_label(template, node_id="a#1", doc_id="a", number=1)
    except (ValueError, KeyError, IndexError, AttributeError) as error:
        raise ConfigurationError(
            f"citation_format={template!r} cannot be used ({error}); fields are {{id}}, {{doc_id}} and {{n}}"
        ) from None
    if not _FIELDS.issuperset(fields) or not {"id", "doc_id"} & set(fields):
        raise ConfigurationError(
            f"citation_format={template!r} must contain {{id}} or {{doc_id}}, and no fields but {{id}}, {{doc_id}}, {{n}}"
        )
    return template


def format_label(template: str, *, node_id: str, doc_id: str, number: int) -> str:
    """Fill the template.

    >>> format_label("[source:{doc_id}#chunk-{n:03d}]", node_id="returns-cn#1", doc_id="returns-cn", number=1)
    '[source:returns-cn#chunk-001]'
    """
    return template.format(id=node_id, doc_id=doc_id, n=number)


def section_number(node_id: str, place: int) -> int:
    """``3`` for ``kb-002#3``; ``place`` when the id carries no number."""
    found = re.search(r"#(\d+)(?:\.\d+)?$", node_id)
    return int(found.group(1)) if found else place
