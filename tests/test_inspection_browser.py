"""The page of ``inspect --html`` as a person sees it, in a headless Chromium."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from gyr_hybrid import cli
from gyr_hybrid.inspection import Inspection, inspect_file

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
# As root, and without the look-ups and downloads that Chromium makes by itself.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TAGS = set("html head meta title style body h1 small section pre mark ul li".split())
SECTIONS = "".join(
    f"## 第 {n} 节\n\n退款三天到账。" + "请保留订单号，客服会联系您。" * 12 + "\n\n" for n in range(3)
)
HOSTILE = """---
title: </title><script>window.ran = 1</script><b>标题
---
# 手册 <img src=x onerror="window.ran = 2">

## </pre></section><script>window.ran = 3</script> 错误码

正文 </mark><script>window.ran = 4</script>，见 <a href="http://127.0.0.1:9/a">链接</a>。

<script src="http://127.0.0.1:9/b.js"></script>
<style>mark { display: none }</style>
<link rel="stylesheet" href="http://127.0.0.1:9/c.css"><meta http-equiv="refresh" content="0;url=http://127.0.0.1:9/">

```html
    <iframe srcdoc="<script>parent.ran = 5</script>"></iframe> &lt;b&gt; &#60;i&#62;
```

| 码 | 说明 |
|---|---|
| E1 | <svg onload="window.ran = 6"> |
| E2 | "引号" & '撇号' |
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    if not os.environ.get("CI") and (found is None or find_spec("playwright") is None):
        pytest.skip("this machine has no Chromium, or no playwright; with CI=true the same is a failure")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=found, args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    (folder / "long.md").write_text(f"# 长文\n\n{SECTIONS}", encoding="utf-8")
    (folder / '<b onclick="window.ran=7">.md').write_text(HOSTILE, encoding="utf-8")
    (folder / "odd.txt").write_text("乱码 \ufffd\n\n  缩进  两个空格\n", encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def found(folder: Path) -> list[Inspection]:
    return inspect_file(folder)


@pytest.fixture(scope="module")
def requests() -> list[str]:
    """Addresses that the page asked for."""
    return []


@pytest.fixture(scope="module")
def page(browser: Browser, folder: Path, requests: list[str]) -> Page:
    file = folder.parent / f"{folder.name}.html"
    done = CliRunner().invoke(cli.app, ["inspect", str(folder), "--html", str(file)])
    assert done.exit_code == 0, done.output
    page = browser.new_page(viewport={"width": 390, "height": 844})
    page.on("request", lambda request: requests.append(request.url))
    page.on("dialog", lambda dialog: requests.append(f"dialog {dialog.message}"))
    page.goto(file.as_uri())
    return page


def test_each_section_is_framed_and_named(page: Page, found: list[Inspection]) -> None:
    sections = [section for one in found for section in one.sections]
    labels = page.locator("section > small").all_inner_texts()
    assert len(labels) == len(sections)
    for label, section in zip(labels, sections, strict=True):
        assert label.startswith(section.node_id)
        assert label.endswith(f"{section.start}–{section.end} · {section.tokens} tokens")
    assert page.locator("h1").all_inner_texts() == [one.title for one in found]
    assert all(page.locator("section").nth(i).is_visible() for i in range(len(sections)))


def test_what_is_seen_is_the_text_of_the_document(page: Page, found: list[Inspection]) -> None:
    children = [child.text for one in found for section in one.sections for child in section.children]
    assert page.locator("mark").all_text_contents() == children
    seen = page.locator("pre").all_inner_texts()
    assert _without_blanks("".join(seen)) == _without_blanks("".join(one.text for one in found))
    assert "  缩进  两个空格" in "".join(seen)


def test_neighbouring_children_have_different_colours(page: Page) -> None:
    for pre in page.locator("section > pre").all():
        colours = pre.locator("mark").evaluate_all(
            "marks => marks.map(mark => getComputedStyle(mark).backgroundColor)"
        )
        assert all(one != other for one, other in pairwise(colours))
        assert "rgba(0, 0, 0, 0)" not in colours
    assert page.locator("section > pre:has(mark:nth-child(2))").count() >= 3


def test_a_child_tells_its_id_and_size_when_pointed_at(page: Page, found: list[Inspection]) -> None:
    titles = page.locator("mark").evaluate_all("marks => marks.map(mark => mark.title)")
    children = [child for one in found for section in one.sections for child in section.children]
    assert [title.split()[0] for title in titles] == [child.node_id.split()[0] for child in children]


def test_the_documents_markup_is_text(page: Page, requests: list[str]) -> None:
    assert set(page.evaluate("[...document.querySelectorAll('*')].map(e => e.localName)")) == TAGS
    names = page.evaluate("[...document.querySelectorAll('body *')].flatMap(e => e.getAttributeNames())")
    assert set(names) == {"class", "title"}
    assert page.evaluate("window.ran") is None
    assert page.title() == "inspect"
    assert requests == [page.url]


def test_warnings_are_shown(page: Page) -> None:
    assert "mojibake" in page.locator("ul.warnings").inner_text()


def test_a_phone_needs_no_scrolling_sideways(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def _without_blanks(text: str) -> str:
    return re.sub(r"\s", "", text)
