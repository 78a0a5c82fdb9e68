"""Word lists beside a data set, so that it is measured with the words of the index that it came from."""

from __future__ import annotations

import shutil
from pathlib import Path

from gyr_hybrid.analysis import LEXICON_FILES, Analyzer
from gyr_hybrid.analysis.word_lists import CONTRASTS_FILE, SYNONYMS_FILE, WORD_LISTS
from gyr_hybrid.errors import ConfigurationError


def word_lists_in(folder: str | Path) -> list[Path]:
    """The word lists in a folder.

    Raises:
        ConfigurationError: there is no such folder.
    """
    if not Path(folder).is_dir():
        raise ConfigurationError(
            f"there is no folder {str(folder)!r} with word lists; they are {', '.join(WORD_LISTS)}"
        )
    return [path for name in WORD_LISTS if (path := Path(folder) / name).is_file()]


def put_word_lists(lists: list[Path], folder: Path) -> None:
    """Make these the word lists of a folder; others that it has go."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in word_lists_in(folder):
        old.unlink()
    for path in lists:
        shutil.copyfile(path, folder / path.name)


def write_word_lists(analyzer: Analyzer, storage: str | Path, folder: Path) -> None:
    """Write the words that an index was built with, and the lists in its folder that are read with each question."""
    put_word_lists(
        [path for path in word_lists_in(storage) if path.name in (SYNONYMS_FILE, CONTRASTS_FILE)], folder
    )
    for name, argument in LEXICON_FILES.items():
        if words := analyzer.to_dict()[argument]:
            (folder / name).write_text("\n".join(words) + "\n", encoding="utf-8", newline="\n")
