"""The paired bootstrap."""

from __future__ import annotations

import numpy as np
import pytest

from gyr_hybrid.evaluation.significance import RESAMPLES, paired_bootstrap


def test_equal_figures_differ_by_nothing() -> None:
    same = np.linspace(0, 1, 50)
    found = paired_bootstrap(same, same)
    assert (found.mean, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_a_gap_on_every_question_is_significant() -> None:
    ours = np.full(40, 0.8)
    found = paired_bootstrap(ours, ours - 0.1)
    assert found.mean == pytest.approx(0.1)
    assert found.low == pytest.approx(0.1)
    assert found.p == pytest.approx(2 / (RESAMPLES + 1))


def test_the_sign_follows_the_order_of_the_systems() -> None:
    rng = np.random.default_rng(1)
    ours, theirs = rng.random(80), rng.random(80)
    there, back = paired_bootstrap(ours, theirs), paired_bootstrap(theirs, ours)
    assert there.mean == pytest.approx(-back.mean)
    assert there.p == pytest.approx(back.p, abs=0.02)


def test_pairs_are_kept_together() -> None:
    """Hard and easy questions differ by far more than the systems do; only pairing sees the gap."""
    rng = np.random.default_rng(2)
    base = rng.random(200)
    found = paired_bootstrap(base + 0.01 + rng.normal(0, 0.02, 200), base)
    assert found.p < 0.05
    assert found.low > 0


def test_one_win_in_a_hundred_is_luck() -> None:
    ours = np.zeros(100)
    ours[3] = 1.0
    assert paired_bootstrap(ours, np.zeros(100)).p > 0.05


def test_the_interval_agrees_with_the_normal_one_where_that_holds() -> None:
    gap = np.random.default_rng(3).normal(0.05, 0.3, 400)
    found = paired_bootstrap(gap, np.zeros(400))
    half = 1.96 * gap.std() / np.sqrt(400)
    assert found.low == pytest.approx(gap.mean() - half, abs=0.004)
    assert found.high == pytest.approx(gap.mean() + half, abs=0.004)


def test_the_same_seed_gives_the_same_result() -> None:
    rng = np.random.default_rng(4)
    ours, theirs = rng.random(30), rng.random(30)
    assert paired_bootstrap(ours, theirs, seed=7) == paired_bootstrap(ours, theirs, seed=7)
    assert paired_bootstrap(ours, theirs, seed=7) != paired_bootstrap(ours, theirs, seed=8)


def test_no_questions_no_difference() -> None:
    assert paired_bootstrap(np.zeros(0), np.zeros(0)).p == 1.0
