"""Stems of English words, so that forms of one word meet (Porter2, of snowballstemmer)."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any


@cache
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


@cache
def _irregular() -> dict[str, str]:
    """Past forms that no stemmer joins to their verb."""
    lines = (
        "undone:undo sent:send kept:keep made:make paid:pay repaid:repay given:give taken:take written:write bought:buy sold:sell "
        "lost:lose held:hold chosen:choose shown:show begun:begin began:begin ran:run found:find left:leave built:build spent:spend "
        "met:meet brought:bring thought:think taught:teach broken:break stolen:steal frozen:freeze spoken:speak driven:drive "
        "hidden:hide seen:see withdrawn:withdraw drawn:draw thrown:throw grown:grow worn:wear torn:tear lent:lend told:tell said:say "
        "felt:feel slept:sleep stood:stand understood:understand overwritten:overwrite forgotten:forget forbidden:forbid risen:rise "
        "fallen:fall flown:fly sought:seek won:win children:child people:person"
    )
    return dict(pair.split(":") for pair in lines.split())


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """English stem of one folded word, irregular verbs joined."""
    return str(_stemmer().stemWord(_irregular().get(word, word)))
