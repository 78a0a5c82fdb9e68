"""The application that the commands belong to, and the options they share."""

from __future__ import annotations

from typing import Annotated

import typer

from gyr_hybrid.cli.opening import DEFAULT_STORAGE

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Checked, cited answers from your documents. 从你的文档里给出有出处、经过核对的回答。",
)
StorageOption = Annotated[
    str | None,
    typer.Option("--storage", help="Folder of the index 索引所在的文件夹", show_default=DEFAULT_STORAGE),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON 输出 JSON")]
OfflineOption = Annotated[bool, typer.Option("--offline", help="Use no endpoint 不访问任何接口")]
