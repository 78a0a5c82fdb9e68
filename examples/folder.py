"""Index a folder and ask it: python examples/folder.py [FOLDER] [QUESTION]

Nothing has to be set: without LLM_* and EMBED_* in the environment everything runs on this machine.
"""

from __future__ import annotations

import sys
import tempfile

from gyr_hybrid import HybridIndex, load_documents


def main(folder: str = "data/helpcenter", question: str = "报错E1042，怎么办") -> None:
    with tempfile.TemporaryDirectory() as storage, HybridIndex.open(storage) as index:
        report = index.upsert(load_documents(folder), show_progress=True)
        print(f"{len(report.added)} documents added, {len(report.failed)} failed")
        answer = index.as_query_engine().query(question)
        print(answer)
        for citation in answer.citations:
            print(f"  {citation.label} {' > '.join(citation.header_path)}")
            print(
                f"    {citation.doc_id} {citation.start_char}–{citation.end_char}: {citation.quote.strip()}"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
