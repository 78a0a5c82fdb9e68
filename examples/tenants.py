"""One index for many tenants: who sees what, on which day.

What a retriever or engine was opened for cannot be widened by a question.
"""

from __future__ import annotations

from llama_index.core import Document
from llama_index.core.vector_stores import MetadataFilter, MetadataFilters

from gyr_hybrid import HybridIndex

RULES = [
    Document(
        id_="price",
        text="# 价格\n\n专业版每年 468 元。",
        metadata={"version": "2025", "valid_to": "2026-07-01"},
    ),
    Document(
        id_="price",
        text="# 价格\n\n专业版每年 498 元。",
        metadata={"version": "2026", "valid_from": "2026-07-01"},
    ),
    Document(
        id_="discount",
        text="# 折扣\n\n专业版对老客户打 8 折。",
        metadata={"tenant": "acme", "acl": ["sales"]},
    ),
    Document(
        id_="discount-b",
        text="# 折扣\n\n专业版对老客户打 9 折。",
        metadata={"tenant": "globex", "category": "价格"},
    ),
]


def main() -> None:
    with HybridIndex.from_documents(RULES, offline=True) as index:
        sales = index.as_query_engine(tenant="acme", principals=["sales"])
        print(sales.query("专业版每年多少元", as_of="2026-01-01"))
        print(sales.query("专业版每年多少元", as_of="2026-08-01"))
        print(sales.query("老客户打几折"))
        print(index.as_query_engine(tenant="acme", principals=["support"]).query("老客户打几折"))
        other_tenant = MetadataFilters(filters=[MetadataFilter(key="tenant", value="globex")])
        print(sales.query("老客户打几折", filters=other_tenant))  # narrows, never widens


if __name__ == "__main__":
    main()
