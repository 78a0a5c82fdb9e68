"""The Analyzer: text to tokens and codes, the same for documents and questions."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from gyr_hybrid.analysis.codes import Code, Mention
from gyr_hybrid.analysis.context import (
    Surroundings,
)
from gyr_hybrid.analysis.folding import fold
from gyr_hybrid.analysis.reading import CodeReader
from gyr_hybrid.analysis.recognition import Recognizer, compiled
from gyr_hybrid.analysis.script import simplify
from gyr_hybrid.analysis.segmentation import Segmenter
from gyr_hybrid.analysis.tokens import HAN, Tokenizer
from gyr_hybrid.analysis.vocabulary import MIXED_WORDS, STOP_WORDS
from gyr_hybrid.analysis.word_lists import LEXICON_FILES, read_entries, single_words
from gyr_hybrid.errors import ConfigurationError

RULES = "4"
"""Version of the rules: raised whenever the same text would give other tokens or codes."""


class Analyzer:
    """Turns text into index tokens and codes; one object serves documents and questions.

    Args:
        user_words: words that the segmenter must know; each ``"word"`` or ``"word frequency tag"`` (jieba's form).
        code_patterns: regular expressions whose matches are codes, before the built-in rules.
        class_words: words beside which a code is meant (``工单类型``), added to the built-in ones.
        family_words: words after a prefix that mean all its codes (``全线``), added to the built-in ones.
        stop_words: words without weight, added to the built-in ones.
        backend: ``auto`` (rjieba when installed), ``jieba`` or ``rjieba``; the tokens are the same.

    Raises:
        ConfigurationError: a pattern that is no regular expression, or an unknown back end.

    >>> analyzer = Analyzer()
    >>> [code.canonical for code in analyzer.codes("报错Ｅ１０４２时，见 NS-X2-BLK-M")]
    ['e1042', 'ns-x2-blk-m']
    """

    def __init__(
        self,
        *,
        user_words: Iterable[str] = (),
        code_patterns: Iterable[str] = (),
        class_words: Iterable[str] = (),
        family_words: Iterable[str] = (),
        stop_words: Iterable[str] = (),
        backend: str = "auto",
    ) -> None:
        self._lexicon = {
            "user_words": _lines(user_words),
            "code_patterns": _lines(code_patterns),
            "class_words": _lines(class_words),
            "family_words": _lines(family_words),
            "stop_words": _lines(stop_words),
        }
        words = [_user_word(line) for line in self._lexicon["user_words"]]
        mixed = [word for word, _ in words if not HAN.fullmatch(word)]
        self.recognizer = Recognizer(self._lexicon["code_patterns"], [*MIXED_WORDS, *mixed])
        self.surroundings = Surroundings(self._lexicon["class_words"], self._lexicon["family_words"])
        self._segmenter = Segmenter(
            [(simplify(word), freq) for word, freq in words if HAN.fullmatch(word)], backend
        )
        self._reader = CodeReader(self.recognizer, self.surroundings)
        stop_words = STOP_WORDS | {simplify(fold(word)) for word in self._lexicon["stop_words"]}
        self._tokenizer = Tokenizer(self.recognizer, self._segmenter, stop_words)

    @classmethod
    def from_folder(cls, path: str | Path, *, backend: str = "auto") -> Analyzer:
        """Analyzer with the lexicon files of a folder; a missing file is an empty one.

        ``userdict.txt`` (jieba's form), ``code_patterns.txt``, ``class_words.txt``, ``family_words.txt``: UTF-8, one
        entry a line, blank lines and lines that begin with ``#`` left out.

        Raises:
            ConfigurationError: the folder does not exist, or a line cannot be read.
        """
        folder = Path(path)
        if not folder.is_dir():
            raise ConfigurationError(
                f"lexicon folder {str(folder)!r} does not exist; give the folder that holds {', '.join(LEXICON_FILES)}"
            )
        user_words, code_patterns, class_words, family_words = (
            read_entries(folder / name) for name in LEXICON_FILES
        )
        for entry in code_patterns:
            try:
                compiled(entry.text)
            except ConfigurationError as error:
                raise ConfigurationError(f"{entry.place}: {error}") from error
        return cls(
            user_words=single_words(user_words),
            code_patterns=[entry.text for entry in code_patterns],
            class_words=single_words(class_words),
            family_words=single_words(family_words),
            backend=backend,
        )

    @property
    def backend(self) -> str:
        """The back end asked for."""
        return self._segmenter.backend

    @property
    def fingerprint(self) -> str:
        """Hash of dictionary and rules; the same for both back ends."""
        return hashlib.sha256(
            json.dumps(self.to_dict(), sort_keys=True, ensure_ascii=False).encode()
        ).hexdigest()[:16]

    def to_dict(self) -> dict[str, Any]:
        """Everything that decides tokens and codes, ready for JSON."""
        return {"rules": RULES, **self._lexicon}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any], *, backend: str = "auto") -> Analyzer:
        """Analyzer saved by ``to_dict``."""
        return cls(
            user_words=values.get("user_words", ()),
            code_patterns=values.get("code_patterns", ()),
            class_words=values.get("class_words", ()),
            family_words=values.get("family_words", ()),
            stop_words=values.get("stop_words", ()),
            backend=backend,
        )

    def tokens(self, text: str) -> list[str]:
        """Index tokens, repeats kept: codes whole and in parts, words with the words inside them, English stems.

        Where two Chinese words that carry meaning meet, the two characters at the border are a token too; they
        catch names that the dictionary lacks.
        """
        return self._tokenizer.tokens(text)

    def query_tokens(self, text: str) -> list[str]:
        """Tokens of a question: stop words and question words dropped when something else remains."""
        return self._tokenizer.query_tokens(text)

    def content_words(self, text: str) -> list[str]:
        """Words of a question that carry meaning, each once, in the form in which ``terms`` holds them.

        A long word counts as the dictionary words that it falls into; an English word as its stem; a code as its
        canonical form.
        """
        return self._tokenizer.content_words(text)

    def terms(self, text: str) -> set[str]:
        """What a section says, to look for content words in: its tokens without those of word borders."""
        return self._tokenizer.terms(text)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_dict(), self.backend)

    def __repr__(self) -> str:
        return f"Analyzer(fingerprint={self.fingerprint!r}, backend={self.backend!r})"

    def codes(self, text: str) -> list[Code]:
        """Codes that stand in a document's ``text``, in order, without overlap; offsets into ``text``."""
        return [mention.code for mention in self._reader.read(text)]

    def mentions(
        self, text: str, *, header_path: Sequence[str] = (), table_row: bool = False
    ) -> list[Mention]:
        """Codes of one child: those of its section's heading path, then those of its text.

        Besides each code there are the names that it contains: the article of ``第十二条第三项``, the class of
        ``java.sql.BatchUpdateException``.

        Args:
            text: the child's text.
            header_path: title and headings; every code in them is defined there (offsets -1).
            table_row: the text is rows of a table: its first cells define, a bare number there is a code.
        """
        return self._reader.mentions(text, header_path, table_row=table_row)


def _restored(values: dict[str, Any], backend: str) -> Analyzer:
    return Analyzer.from_dict(values, backend=backend)


def _lines(values: Iterable[str]) -> list[str]:
    if isinstance(values, str):
        raise ConfigurationError(f"expected a list of words, not the text {values!r}; put it in a list")
    return [value.strip() for value in values if value.strip()]


def _user_word(line: str) -> tuple[str, int | None]:
    line = " ".join(line.split())
    word, _, rest = line.partition(" ")
    frequency = rest.split(" ", 1)[0]
    return fold(word if frequency.isdecimal() or not rest else line), int(
        frequency
    ) if frequency.isdecimal() else None
