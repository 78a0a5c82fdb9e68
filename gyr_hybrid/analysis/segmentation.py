"""Cut Han text into words: a private jieba dictionary, in Rust when rjieba is installed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from gyr_hybrid.errors import ConfigurationError

Cut = Callable[[str], list[str]]
Contains = Callable[[str], bool]


class Segmenter:
    """Words of Han text by jieba's dictionary plus the user's words, without the hidden Markov model.

    The two back ends give the same words: ``jieba`` (Python, the reference) and ``rjieba`` (Rust, faster).
    Nothing is loaded before the first cut, and jieba's global tokenizer is never touched.

    Raises:
        ConfigurationError: an unknown back end, or ``rjieba`` when it is not installed.
    """

    def __init__(self, user_words: Sequence[tuple[str, int | None]] = (), backend: str = "auto") -> None:
        if backend not in ("auto", "jieba", "rjieba"):
            raise ConfigurationError(
                f"unknown analyzer back end {backend!r}; use 'auto', 'jieba' or 'rjieba'"
            )
        if backend == "rjieba" and find_spec("rjieba") is None:
            raise ConfigurationError(
                "analyzer back end 'rjieba' is not installed; pip install 'gyr_hybrid[fast]' or use 'auto'"
            )
        self.backend = backend
        self._user_words = tuple(user_words)
        self._dictionary: tuple[Cut, Contains] | None = None
        self._lock = threading.Lock()

    def words(self, text: str) -> list[str]:
        """Words that follow one another without overlap and joined give ``text``."""
        return (self._dictionary or self._load())[0](text)

    def inside(self, word: str) -> tuple[str, ...]:
        """Dictionary words of two and three characters inside a longer word, as jieba's search mode gives them."""
        contains = (self._dictionary or self._load())[1]
        grams = [word[at : at + 2] for at in range(len(word) - 1)] if len(word) > 2 else []
        grams += [word[at : at + 3] for at in range(len(word) - 2)] if len(word) > 3 else []
        return tuple(gram for gram in grams if contains(gram))

    def _load(self) -> tuple[Cut, Contains]:
        with self._lock:
            if self._dictionary is None:
                rust = self.backend == "rjieba" or (
                    self.backend == "auto" and find_spec("rjieba") is not None
                )
                self._dictionary = _rjieba(self._user_words) if rust else _jieba(self._user_words)
            return self._dictionary


def _rjieba(user_words: Sequence[tuple[str, int | None]]) -> tuple[Cut, Contains]:
    tokenizer = _new_rjieba() if user_words else _plain_rjieba()
    for word, frequency in user_words:
        tokenizer.add_word(word, frequency, None)
    return (lambda text: tokenizer.cut(text, False)), tokenizer.has_word


def _jieba(user_words: Sequence[tuple[str, int | None]]) -> tuple[Cut, Contains]:
    tokenizer = _new_jieba() if user_words else _plain_jieba()
    for word, frequency in user_words:
        tokenizer.add_word(word, frequency, None)
    return (lambda text: tokenizer.lcut(text, HMM=False)), (lambda word: bool(tokenizer.FREQ.get(word)))


def _new_rjieba() -> Any:
    import rjieba

    return rjieba.Jieba()


def _new_jieba() -> Any:
    import jieba

    tokenizer = jieba.Tokenizer()
    # as Tokenizer.initialize(), but without its log lines and its cache file in the shared temporary folder
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


@lru_cache(maxsize=1)
def _plain_rjieba() -> Any:
    """The dictionary without user words, shared by all analyzers of the process."""
    return _new_rjieba()


@lru_cache(maxsize=1)
def _plain_jieba() -> Any:
    """The dictionary without user words, shared by all analyzers of the process."""
    return _new_jieba()
