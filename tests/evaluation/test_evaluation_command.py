"""``gyr-hybrid eval``, as typed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from gyr_hybrid import ConfigurationError, HybridIndex, cli, load_documents
from gyr_hybrid.evaluation import dataset_from_index, load_dataset, write_dataset
from gyr_hybrid.evaluation.command import evaluate_folder
from gyr_hybrid.testing import HashEmbedding

Run = Callable[..., str]

CORPUS = [
    {"_id": "p1", "title": "退货", "text": "签收后七天内可以退货，商品须未使用。"},
    {"_id": "p2", "title": "运费", "text": "因个人原因退货的，运费由买家承担。"},
    {"_id": "p3", "title": "发票", "text": "付款后可以在订单页申请电子发票。"},
]
QUERIES = [
    {"_id": "q1", "text": "几天之内能退货", "kind": "time"},
    {"_id": "q2", "text": "退货运费谁出", "kind": "money"},
    {"_id": "q3", "text": "在哪里申请发票", "kind": "place"},
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "shop"
    folder.mkdir()
    for name, rows in (("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES)):
        (folder / name).write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    (folder / "qrels.tsv").write_text("q1\tp1\t1\nq2\tp2\t1\nq3\tp3\t1\n", encoding="utf-8")
    return folder


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def go(*args: str, code: int = 0) -> str:
        result = CliRunner().invoke(cli.app, ["eval", *args])
        assert result.exit_code == code, result.output
        return result.stdout if code == 0 else result.output

    return go


def test_table_markdown_picture_and_json_by_one_command(run: Run, data: Path, tmp_path: Path) -> None:
    shown = run(str(data), "--markdown", "report.md", "--png", "report.png", "--by", "kind")
    assert "+ rerank (full)" in shown
    assert "money" in shown
    assert "### shop" in (tmp_path / "report.md").read_text(encoding="utf-8")
    assert (tmp_path / "report.png").stat().st_size > 1000
    values = json.loads(run(str(data), "--json", "--diff", "rerank", "codes"))
    assert values["rows"]["rerank"]["hit@1"] == 1.0
    assert [win["id"] for win in values["diff"]] == ["q1", "q2", "q3"]


def test_the_second_run_embeds_nothing_and_says_the_same(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(str(data), "--json", "--no-time", "--cache", "kept")
    assert [p.name.rpartition("-")[0] for p in (tmp_path / "kept").iterdir()] == ["shop"]

    def forbidden(self: object, texts: list[str]) -> list[list[float]]:
        raise AssertionError(f"embedded again: {texts}")

    monkeypatch.setattr("gyr_hybrid.models.local_embedding.LocalEmbedding._get_text_embeddings", forbidden)
    assert run(str(data), "--json", "--no-time", "--cache", "kept") == first
    monkeypatch.setattr("gyr_hybrid.analysis.analyzer.RULES", "next")
    monkeypatch.setattr("gyr_hybrid.agreement.RULES", "next")
    renewed = json.loads(run(str(data), "--json", "--no-time", "--cache", "kept"))
    assert renewed["rows"] == json.loads(first)["rows"]
    assert len(list((tmp_path / "kept").iterdir())) == 1


def test_fewer_questions(run: Run, data: Path) -> None:
    assert json.loads(run(str(data), "--json", "--limit", "2"))["judged"] == 2
    assert json.loads(run(str(data), "--json", "--where", "kind=money"))["judged"] == 1
    assert "label=value" in run(str(data), "--where", "money", code=2)


def test_from_index_asks_the_users_own_index_and_writes_the_questions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(
        "# 手册\n\n## 安装\n\n先装驱动。\n\n## 报错 E7001\n\n重启设备。\n", encoding="utf-8"
    )
    assert CliRunner().invoke(cli.app, ["index", "notes"]).exit_code == 0
    values = json.loads(run("--from-index", "--json", "--write", "mine"))
    assert values["rows"]["rerank"]["hit@1"] == 1.0
    assert set(values["groups"]) == {"heading", "code"}
    again = json.loads(run("mine", "--storage", "storage", "--json"))
    assert again["judged"] == values["judged"]
    assert again["rows"]["rerank"] == values["rows"]["rerank"]
    alone = json.loads(run("mine", "--json"))
    assert alone["rows"]["rerank"] == values["rows"]["rerank"]


def test_a_data_set_is_measured_with_the_words_of_its_index(run: Run, tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text(
        "# 手册\n\n## 故障 甲12-34\n\n重启设备。\n\n## 故障 甲12-35\n\n换电池。\n", "utf-8"
    )
    (tmp_path / "storage").mkdir()
    (tmp_path / "storage" / "code_patterns.txt").write_text("甲\\d{2}-\\d{2}\n", "utf-8")
    (tmp_path / "storage" / "synonyms.txt").write_text("# 口语\n重启, 重开\n", "utf-8")
    assert CliRunner().invoke(cli.app, ["index", "notes"]).exit_code == 0
    values = json.loads(run("--from-index", "--json", "--write", "mine"))
    assert values["groups"]["code"]["n"] == 2
    alone = json.loads(run("mine", "--json"))
    assert alone["index"]["word_lists"] == {"code_patterns.txt": 1, "synonyms.txt": 1}
    assert (alone["index"], alone["rows"]["rerank"]) == (values["index"], values["rows"]["rerank"])
    assert "with code_patterns.txt 1 + synonyms.txt 1" in " ".join(run("mine").split())
    (tmp_path / "none").mkdir()
    other = json.loads(run("mine", "--json", "--words", "none"))
    assert other["index"]["word_lists"] == {}
    assert other["index"]["analyzer"] != values["index"]["analyzer"]
    assert "no words of its own" in " ".join(run("mine", "--words", "none").split())
    assert "no folder 'nowhere'" in run("mine", "--words", "nowhere", code=2)
    assert "its own word lists" in run("mine", "--words", "none", "--storage", "storage", code=2)
    (tmp_path / "mine" / "synonyms.txt").write_text("重启\n", "utf-8")
    assert f"{Path('storage', 'synonyms.txt')}, line 1: cannot read '重启'" in run("mine", code=2).replace(
        "\n", ""
    )


def test_what_is_written_from_an_index_is_read_back_as_it_is_there(tmp_path: Path) -> None:
    source = tmp_path / "notes"
    source.mkdir()
    (source / "C#, 常见问题.md").write_text(
        "---\nversion: '2'\nacl: [sales]\nvalid_from: 2020-01-01\n---\n# 手册\n\n## 安装\n\n先装驱动。\n",
        encoding="utf-8",
    )
    (source / "rules.txt").write_text("一、总则\n\n先签字。\n\n二、附则\n\n后付款。\n", encoding="utf-8")
    with HybridIndex.from_documents(load_documents(source), embed_model=HashEmbedding()) as index:
        folder = write_dataset(dataset_from_index(index), tmp_path / "set")
        documents = load_dataset(folder).documents
        assert [d.id_ for d in documents] == ["C%23%2C 常见问题.md", "rules.txt"]
        assert sorted(index.upsert(documents).unchanged) == [d.id_ for d in documents]
        with HybridIndex.from_documents(documents, embed_model=HashEmbedding()) as again:
            assert dataset_from_index(again).questions == dataset_from_index(index).questions
        (folder / "docs").mkdir()
        with pytest.raises(ConfigurationError, match="documents of its own"):
            write_dataset(dataset_from_index(index), folder)


def test_what_cannot_be_done_is_said(run: Run, data: Path) -> None:
    assert "--from-index" in run(code=2)
    assert "no index in 'nowhere'" in run(str(data), "--storage", "nowhere", code=2)
    assert "no data set" in run("nowhere", code=2)
    assert "no row 'x'" in run(str(data), "--diff", "x", "rerank", code=2)


def test_folders_are_evaluated_from_python_too(data: Path, tmp_path: Path) -> None:
    report = evaluate_folder(data, cache=tmp_path / "kept", k=1, offline=True)
    assert report.dataset == "shop"
    assert report.rows["bm25-whole"]["hit@1"] == 1.0
