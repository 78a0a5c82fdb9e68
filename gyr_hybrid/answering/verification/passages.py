"""A source section as the clauses a sentence can rest on, each with the words it inherits."""

from __future__ import annotations

from dataclasses import dataclass

from gyr_hybrid.figures import Figure


@dataclass(frozen=True, slots=True)
class Passage:
    """One clause of a section; texts are folded, offsets are code points into the section."""

    start: int
    end: int
    text: str
    """The clause itself."""
    head: str = ""
    """Its line's head, row label and column name: as good as its own words."""
    carried: str = ""
    """Earlier clauses of its segment and the lead-in of its list, which it may take its subject from."""
    sentence: int = 0
    """Number of the sentence (or table row) within the section."""
    segment: int = 0
    """Number of the part between semicolons or full stops within the section."""
    excluded: bool = False
    """An item of a list of exceptions."""
    lead: tuple[int, int] | None = None
    """Span of the list's lead-in, if it inherits from one in another sentence."""
    asked: str = ""
    """The question that it answers."""
    figures: tuple[Figure, ...] = ()
    """Figures of head and clause."""
    carried_figures: tuple[Figure, ...] = ()

    @property
    def in_table(self) -> bool:
        """Whether it is a cell of a table: its head names the row and the column."""
        return "\n" in self.head

    @property
    def own(self) -> str:
        """Head and clause."""
        return f"{self.head}\n{self.text}" if self.head else self.text


@dataclass(frozen=True, slots=True)
class Section:
    """A section read into passages."""

    text: str
    folded: str
    heading: str
    """Title, heading path and table header: folded lines that every passage may lean on."""
    heading_figures: tuple[Figure, ...]
    passages: tuple[Passage, ...]
    figures: tuple[Figure, ...]
    """All figures of the text."""
    sentences: tuple[tuple[int, int], ...]
    """Span of each sentence number."""
    enumerations: tuple[tuple[str, ...], ...]
    """Heads of each list, row labels and column names of each table."""
