"""The command line, as typed."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gyr_hybrid import cli
from gyr_hybrid.shipped import shipped


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    runner = CliRunner()

    def go(*args: str, code: int = 0) -> str:
        result = runner.invoke(cli.app, list(args))
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.output

    return go


def test_ask_without_an_index_answers_from_the_demo_and_says_so(run, tmp_path: Path) -> None:
    result = CliRunner().invoke(cli.app, ["ask", "导入流水提示 E1042 怎么办"])
    assert result.exit_code == 0, result.output
    assert "[kb-010#2]" in result.stdout
    assert "「请下载最新模板" in result.stdout
    assert "demo" in result.stderr
    assert "mode=offline" in result.stderr
    assert [p.name for p in tmp_path.iterdir()] == ["cache"]


def test_ask_with_a_mistyped_storage_is_an_error_and_creates_nothing(run, tmp_path: Path) -> None:
    assert "no index in 'storag'" in run("ask", "E1042", "--storage", "storag", code=2)
    assert not (tmp_path / "storag").exists()


def test_index_search_codes_stats_check_delete(run) -> None:
    report = json.loads(run("index", str(shipped("novashop")), "--json"))
    assert report["added"] == ["returns-cn", "shipping-policy", "size-guide"]
    assert report["failed"] == {}
    again = json.loads(run("index", str(shipped("novashop")), "--json"))
    assert (len(again["unchanged"]), again["nodes_embedded"]) == (3, 0)
    rows = json.loads(run("search", "下单后多久能发货", "--json"))
    assert rows[0]["node_id"] == "shipping-policy#1"
    explained = json.loads(run("search", "NS-X2-BLK-M", "--explain", "--json"))
    assert explained["codes"][0]["status"] == "known"
    assert "size-guide#1" in run("search", "NS-X2-BLK-M", "--explain")
    codes = json.loads(run("codes", "--json"))
    assert {"NS-X2-BLK-M", "NS-X2-BLK-L"} <= {code["text"] for code in codes}
    assert json.loads(run("stats", "--json"))["sections"] == 8
    assert json.loads(run("check", "--json"))["ok"] is True
    assert json.loads(run("delete", "returns-cn", "nobody", "--json")) == {"deleted": 1}
    stats = json.loads(run("stats", "--json"))
    assert stats["documents"] == 2
    assert stats["embedding_name"]
    assert stats["embedding_dimension"] > 0
    assert stats["analyzer_rules"]
    assert len(stats["analyzer_fingerprint"]) == 16
    assert "not in the index 索引里没有: nobody" in run("delete", "nobody", code=1)
    assert "nobody" in CliRunner().invoke(cli.app, ["delete", "size-guide", "nobody"]).stderr


def test_backup_is_one_file_that_can_be_put_back_and_compact_says_what_it_gave_back(
    run, tmp_path: Path
) -> None:
    run("index", str(shipped("novashop")), "--json")
    written = json.loads(run("backup", "copy.sqlite3", "--json"))
    assert written == {"file": "copy.sqlite3", "bytes": (tmp_path / "copy.sqlite3").stat().st_size}
    assert "exists already" in run("backup", "copy.sqlite3", code=2)
    run("delete", "returns-cn")
    figures = json.loads(run("compact", "--json"))
    assert 0 < figures["bytes_after"] < figures["bytes_before"]
    assert "MB, now" in run("compact")
    (tmp_path / "again").mkdir()
    (tmp_path / "copy.sqlite3").rename(tmp_path / "again" / "knowledge.sqlite3")
    assert json.loads(run("stats", "--storage", "again", "--json"))["documents"] == 3
    assert json.loads(run("check", "--storage", "again", "--json"))["ok"] is True


def test_check_mends_what_is_derived_and_says_what_is_lost(run, tmp_path: Path) -> None:
    run("index", str(shipped("novashop")), "--json")
    with closing(sqlite3.connect(tmp_path / "storage" / "knowledge.sqlite3")) as connection:
        connection.execute("UPDATE documents SET tenant = 'someone' WHERE doc_id = 'returns-cn'")
        connection.commit()
        assert "tenant, acl or dates" in run("check", "--no-repair", code=1)
        assert "repaired" in run("check")
        connection.execute("UPDATE postings SET term_keys = zeroblob(8)")
        connection.commit()
    assert "not ok" in run("check", code=1)


def test_codes_of_a_file_shows_what_would_be_recognised(run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 手册\n\n错误码 E1042 与 NS-X2-BLK-M。\n", encoding="utf-8")
    found = json.loads(run("codes", "a.md", "--json"))
    assert [code["text"] for code in found] == ["E1042", "NS-X2-BLK-M"]


def test_ask_json_has_the_fields_of_a_cited_response(run) -> None:
    answer = json.loads(run("ask", "退款几天能到账", "--json"))
    assert {"response", "citations", "source_nodes", "context_nodes", "refused", "refusal_reason"} <= set(
        answer
    )
    assert {"unknown_identifiers", "warnings", "evidence", "trace"} <= set(answer)
    assert answer["citations"][0]["node_id"] == "kb-002#4"
    assert answer["trace"]
    assert {"unit", "action", "reason", "shown", "cited"} == set(answer["trace"][0])


def test_a_file_that_cannot_be_read_is_named_and_the_rest_goes_in(run, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "good.md").write_text("# 好\n\n可以读。\n", encoding="utf-8")
    (folder / "bad.md").write_text("---\nid: a#b\n---\n# 坏\n\n不行。\n", encoding="utf-8")
    result = CliRunner().invoke(cli.app, ["index", "docs"])
    assert result.exit_code == 0
    assert "bad.md" in result.stderr
    assert "added 1" in result.stdout


def test_commands_on_a_missing_index_or_path_say_what_to_do(run) -> None:
    assert "gyr-hybrid index" in run("stats", code=2)
    assert "nowhere" in run("index", "nowhere", code=2)


def test_control_characters_of_documents_do_not_reach_the_terminal(run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 标题\x1b[31m\n\n重启设备\x1b[2J即可恢复运行。\n", encoding="utf-8")
    run("index", "a.md")
    assert "\x1b" not in run("ask", "设备怎么恢复运行", "--storage", "storage")


def test_a_damaged_demo_is_built_again(run, tmp_path: Path) -> None:
    run("ask", "E1042")
    (database,) = (tmp_path / "cache").rglob("*.sqlite3")
    for file in database.parent.iterdir():
        file.unlink()
    database.write_bytes(b"no database at all" * 100)
    assert "[kb-010#" in run("ask", "E1042")


def test_a_demo_kept_by_other_rules_is_analysed_again(run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("ask", "E1042")
    monkeypatch.setattr("gyr_hybrid.analysis.analyzer.RULES", "next")
    monkeypatch.setattr("gyr_hybrid.agreement.RULES", "next")
    assert "analysed" not in " ".join(json.loads(run("ask", "E1042", "--json"))["warnings"])


def test_files_of_one_name_are_named_and_a_replaced_one_is_said(run, tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "faq.md").write_text(f"# 问答 {folder}\n\n可以退货。\n", encoding="utf-8")
    both = json.loads(run("index", "a", "b", "--json", code=1))["failed"]["faq.md"]
    assert str(tmp_path / "a" / "faq.md") in both
    assert str(tmp_path / "b" / "faq.md") in both
    assert json.loads(run("index", "a", "--json"))["replaced"] == {}
    assert json.loads(run("index", "a/faq.md", "--json"))["replaced"] == {}
    result = CliRunner().invoke(cli.app, ["index", "b"])
    assert result.exit_code == 0
    assert f"faq.md came from {tmp_path / 'a' / 'faq.md'} before" in result.stderr
    (tmp_path / "b").rename(tmp_path / "c")
    (tmp_path / "c" / "faq.md").write_text("# 问答\n\n不可以退货。\n", encoding="utf-8")
    assert json.loads(run("index", "c", "--json"))["replaced"] == {}


def test_no_bars_where_no_terminal_is(run, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# 手册\n\n重启设备。\n", encoding="utf-8")
    assert CliRunner().invoke(cli.app, ["index", "a.md"]).stderr == ""


def test_a_bad_line_of_synonyms_is_found_by_its_file_and_number(run, tmp_path: Path) -> None:
    run("index", str(shipped("novashop")), "--json")
    (tmp_path / "storage" / "synonyms.txt").write_text("退款, 退钱\n坏 ->\n", encoding="utf-8")
    for command in ("ask", "search"):
        printed = run(command, "退款", code=2)
        assert f"{Path('storage', 'synonyms.txt')}, line 2: cannot read '坏 ->'" in printed
