"""The code benchmark that users run, at a size that takes seconds."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(BENCHMARKS / "sku_e1042.py"), *arguments],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_every_spelling_finds_its_code_and_absent_codes_are_refused(tmp_path: Path) -> None:
    done = run("--size", "200", "--questions", "3", "--no-vectors", "--json", str(tmp_path / "out.json"))
    assert done.returncode == 0, done.stdout + done.stderr
    written = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    table = written["systems"]
    ours, stock = table["+ rerank"], table["LlamaIndex BM25"]
    assert (ours["top-1"], ours["confused"], ours["unknown"], ours["false alarms"]) == (1.0, 0, 1.0, 0.0)
    assert (ours["ambiguous"], ours["double"], ours["number"], ours["refused"]) == (1.0, 1.0, 1.0, 0.0)
    assert stock["top-1"] < 0.8
    assert written["times"]["look-up, p50 ms"] < 20
    assert "vectors, RRF and + merge left out" in done.stdout


def test_a_users_own_folder_and_list_are_judged(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 错误码 E1042\n\n请下载最新模板。\n", encoding="utf-8")
    (tmp_path / "b.md").write_text("# 错误码 E1043\n\n请另存为 UTF-8。\n", encoding="utf-8")
    (tmp_path / "codes.csv").write_text(
        "query,expected\nｅ１０４２怎么办,a.md\nE1099 怎么办,\n", encoding="utf-8"
    )
    done = run("--data", str(tmp_path))
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / "codes.csv").write_text("query,expected\nE1042,b.md\n", encoding="utf-8")
    done = run("--data", str(tmp_path))
    assert done.returncode == 1
    assert "missed: 'E1042'" in done.stdout
