"""Cut Han text into words: a private jieba dictionary, in Rust when rjieba is installed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal

from gyr_hybrid.errors import ConfigurationError

Backend = Literal["auto", "jieba", "rjieba"]
Cut = Callable[[str], list[str]]


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
        self._cuts: tuple[Cut, Cut] | None = None
        self._lock = threading.Lock()

    def search(self, text: str) -> list[str]:
        """Words for an index: long words together with the dictionary words inside them."""
        return (self._cuts or self._load())[0](text)

    def words(self, text: str) -> list[str]:
        """Words that follow one another without overlap."""
        return (self._cuts or self._load())[1](text)

    def _load(self) -> tuple[Cut, Cut]:
        with self._lock:
            if self._cuts is None:
                rust = self.backend == "rjieba" or (
                    self.backend == "auto" and find_spec("rjieba") is not None
                )
                self._cuts = _rjieba(self._user_words) if rust else _jieba(self._user_words)
            return self._cuts


def _rjieba(user_words: Sequence[tuple[str, int | None]]) -> tuple[Cut, Cut]:
    tokenizer = _plain_rjieba() if not user_words else _new_rjieba()
    for word, frequency in user_words:
        tokenizer.add_word(word, frequency)
    return (lambda text: tokenizer.cut_for_search(text, False)), (lambda text: tokenizer.cut(text, False))


def _jieba(user_words: Sequence[tuple[str, int | None]]) -> tuple[Cut, Cut]:
    tokenizer = _plain_jieba() if not user_words else _new_jieba()
    for word, frequency in user_words:
        tokenizer.add_word(word, frequency)
    return (lambda text: tokenizer.lcut_for_search(text, HMM=False)), (
        lambda text: tokenizer.lcut(text, HMM=False)
    )


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
