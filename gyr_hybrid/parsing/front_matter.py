"""The YAML block at the head of a file, read with every scalar as text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

import yaml

from gyr_hybrid.errors import DocumentError

_FENCE = re.compile(r"---[ \t]*")
_KEY = re.compile(r"[^\s#\-:][^:\n]*:(?:[ \t].*)?")
# An empty value says nothing about these; an empty acl or tenant does (nobody may see it).
_OPTIONAL = frozenset(
    ("id", "title", "category", "source", "url", "updated_at", "version", "valid_from", "valid_to")
)

FrontValue = str | list[str]


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What stands before the body of a file."""

    metadata: dict[str, FrontValue] = field(default_factory=dict)
    body: str = ""
    """The text after the block, blank lines included."""
    body_line: int = 1
    """1-based line of the file where the body begins."""


class _TextLoader(yaml.BaseLoader):
    """Scalars stay text. Aliases are refused: a few lines of them expand to gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases (*name) are not supported")
        return super().compose_node(parent, index)


def split_front_matter(text: str) -> FrontMatter:
    """Split ``text`` (newlines are LF, no BOM) into metadata and body.

    A ``---`` block that is no mapping is part of the body. One that is plainly meant as
    ``key: value`` lines but is broken YAML raises `DocumentError`, because its acl and tenant
    cannot be read.
    """
    lines = text.split("\n")
    if not _FENCE.fullmatch(lines[0]):
        return FrontMatter(body=text)
    close = next((i for i in range(1, len(lines)) if _FENCE.fullmatch(lines[i])), None)
    if close is None:
        return FrontMatter(body=text)
    block = lines[1:close]
    try:
        loaded = yaml.load("\n".join(block), Loader=_TextLoader)
    except (yaml.YAMLError, RecursionError) as error:
        if _looks_like_mapping(block):
            raise DocumentError(
                f"The front matter is not valid YAML ({_describe(error)}); put values that contain ': ' or brackets in quotes."
            ) from error
        return FrontMatter(body=text)
    if not isinstance(loaded, dict):
        return FrontMatter(body=text)
    metadata = {key: _plain(value) for key, value in loaded.items()}
    return FrontMatter(
        metadata={k: v for k, v in metadata.items() if v or k not in _OPTIONAL},
        body="\n".join(lines[close + 1 :]),
        body_line=close + 2,
    )


def _plain(value: object) -> FrontValue:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return list(value)
    return json.dumps(value, ensure_ascii=False)


def _looks_like_mapping(block: list[str]) -> bool:
    """Every line that begins at the margin is ``key:`` or ``key: value``, a list item or a comment."""
    margin = [line for line in block if line.strip() and line[0] not in " \t#-"]
    return bool(margin) and all(_KEY.fullmatch(line) for line in margin)


def _describe(error: Exception) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"{error.problem}, line {error.problem_mark.line + 2} of the file"
    return str(error) or type(error).__name__
