from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gyr_hybrid import cli
from gyr_hybrid.inspection import inspect_file, to_html

TEXT = "# 手册 <b>\n\n## 错误码 E1042\n\n请下载最新模板。再导入一次。\n\n| 码 | 说明 |\n|---|---|\n| E1 | 断电 |\n| E2 | 过热 |\n"


@pytest.fixture
def manual(tmp_path: Path) -> Path:
    (tmp_path / "manual.md").write_text(TEXT, encoding="utf-8")
    return tmp_path / "manual.md"


def test_sections_and_children_are_listed_with_exact_offsets(manual: Path) -> None:
    (found,) = inspect_file(manual)
    assert [section.node_id for section in found.sections] == ["manual.md#1"]
    for section in found.sections:
        assert "".join(child.text for child in section.children) == found.text[section.start : section.end]
    assert found.warnings == ()


def test_what_looks_wrong_is_said(tmp_path: Path) -> None:
    (tmp_path / "long.md").write_text("没有标题的一段话，" * 60 + "\ufffd。\n", encoding="utf-8")
    (tmp_path / "code.md").write_text("## 日志\n\n```\n" + "error 1042 " * 200 + "\n```\n", encoding="utf-8")
    (tmp_path / "table.md").write_text(
        "## 码\n\n| 码 | 义 |\n|---|---|\n" + "".join(f"| E{n} | 甲 |\n" for n in range(50)), encoding="utf-8"
    )
    (tmp_path / "bad.md").write_text("---\nid: a#b\n---\n坏\n", encoding="utf-8")
    found = {one.doc_id.rsplit("/")[-1]: one.warnings for one in inspect_file(tmp_path)}
    assert any("no structure" in warning for warning in found["long.md"])
    assert any("mojibake" in warning for warning in found["long.md"])
    assert any("a#b" in warning for warning in found["bad.md"])
    assert any("long child: code.md#1" in warning for warning in found["code.md"])
    assert any("many children: table.md#1" in warning for warning in found["table.md"])


def test_the_page_is_self_contained_and_escapes_the_document(manual: Path) -> None:
    page = to_html(inspect_file(manual))
    assert "手册 &lt;b&gt;" in page
    assert "<b>" not in page
    assert "//" not in page
    assert page.count("<mark") == sum(len(s.children) for s in inspect_file(manual)[0].sections)


def test_the_command_prints_a_tree_json_and_a_page(manual: Path, tmp_path: Path) -> None:
    runner = CliRunner()
    assert "[manual.md#1]" in runner.invoke(cli.app, ["inspect", str(manual)]).stdout
    (one,) = json.loads(runner.invoke(cli.app, ["inspect", str(manual), "--json"]).stdout)
    assert one["sections"][0]["children"][0]["start"] == one["sections"][0]["start"]
    whole = runner.invoke(cli.app, ["inspect", str(manual), "--strategy", "structure", "--json"]).stdout
    assert len(json.loads(whole)[0]["sections"][0]["children"]) == 1
    assert runner.invoke(cli.app, ["inspect", str(manual), "--strategy", "fixd"]).exit_code != 0
    result = runner.invoke(cli.app, ["inspect", str(manual), "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
