"""Kill a writing process again and again, and look at what is left.

    python tests/storage/crash_rounds.py --rounds 200

Each round forks a writer, kills it with SIGKILL while it commits pairs of documents (and now and then
deletes, compacts or keeps vectors), opens the index again and counts: commits that were acknowledged and
are lost, pairs of which only half is there, problems that ``check`` finds.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time

import numpy as np
from llama_index.core.schema import Document, NodeRelationship, RelatedNodeInfo, TextNode

from gyr_hybrid.storage import Batch, DocumentRecord, embed_hash, open_store

PAIRS = 7


def _record(doc_id: str, n: int) -> DocumentRecord:
    texts = [f"第 {n} 次 提交 的 第 {i} 句。" for i in range(6)]
    section = TextNode(
        id_=f"{doc_id}#1", text="".join(texts), start_char_idx=0, end_char_idx=sum(map(len, texts))
    )
    children, offset = [], 0
    for i, text in enumerate(texts, start=1):
        child = TextNode(
            id_=f"{doc_id}#1.{i}", text=text, start_char_idx=offset, end_char_idx=offset + len(text)
        )
        child.relationships[NodeRelationship.PARENT] = RelatedNodeInfo(node_id=section.node_id)
        children.append(child)
        offset += len(text)
    section.relationships[NodeRelationship.CHILD] = [RelatedNodeInfo(node_id=c.node_id) for c in children]
    rng = np.random.default_rng(n)
    return DocumentRecord(
        document=Document(id_=doc_id, text="".join(texts), metadata={"n": n}),
        nodes=(section, *children),
        tokens={c.node_id: c.text.split() for c in children},
        vectors={c.node_id: rng.standard_normal(64).astype(np.float32) for c in children},
        fingerprint=str(n),
    )


def _write(folder: str, first: int, acknowledge: int) -> None:
    """Commit until killed; every returned commit is told."""
    store = open_store(folder)
    n = first
    while True:
        pair = n % PAIRS
        store.apply(
            Batch(
                upserts=(_record(f"a{pair}", n), _record(f"b{pair}", n)),
                deletes=((f"c{pair}", None),),
            )
        )
        os.write(acknowledge, f"{n}\n".encode())
        if n % 5 == 0:
            store.cache_vectors({embed_hash(str(n)): np.random.default_rng(n).standard_normal(64)})
        if n % 11 == 0:
            store.view()
        if n % 17 == 0:
            store.compact()
        n += 1


def run(rounds: int, folder: str) -> dict[str, int]:
    """Count what went wrong."""
    chance = random.Random(0)
    totals = {"rounds": rounds, "commits": 0, "lost": 0, "partial": 0, "problems": 0}
    newest = dict.fromkeys(range(PAIRS), -1)
    n = 0
    for _ in range(rounds):
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                _write(folder, n, writing)
            finally:
                os._exit(1)
        os.close(writing)
        first = os.read(reading, 1)
        time.sleep(chance.uniform(0.0, 0.05))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        told = first + b"".join(iter(lambda r=reading: os.read(r, 65536), b""))
        os.close(reading)
        acknowledged = [int(line) for line in told.split(b"\n")[:-1]]
        for done in acknowledged:
            newest[done % PAIRS] = done
        totals["commits"] += len(acknowledged)
        store = open_store(folder)
        view = store.view()
        for pair, done in newest.items():
            a, b = view.document(f"a{pair}"), view.document(f"b{pair}")
            found = [-1 if d is None else int(d.metadata["n"]) for d in (a, b)]
            totals["partial"] += found[0] != found[1]
            totals["lost"] += found[0] < done
            newest[pair] = max(newest[pair], found[0])
        totals["problems"] += len(store.check(repair=False).problems)
        store.close()
        n = max(newest.values()) + 1
    return totals


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        totals = run(arguments.rounds, folder)
    print(", ".join(f"{name} {count}" for name, count in totals.items()))
    return int(bool(totals["lost"] or totals["partial"] or totals["problems"]))


if __name__ == "__main__":
    sys.exit(main())
