"""Fakes for tests, ours and yours: no network, no keys, the same result every time.

>>> from gyr_hybrid.testing import HashEmbedding, ScriptedLLM
>>> llm = ScriptedLLM(["保修期为三年。[kb-002#1]"])
>>> llm.complete("保修多久？").text
'保修期为三年。[kb-002#1]'
>>> llm.calls, llm.prompts
(1, ['保修多久？'])
>>> len(HashEmbedding(dimensions=64).get_query_embedding("保修"))
64

`ScriptedLLM` and `HashEmbedding` stand in for the models of LlamaIndex; `FakeEndpoint` is a real HTTP server on
the loopback that speaks the OpenAI protocol and can be told to fail.
"""

from __future__ import annotations

from gyr_hybrid.testing.embedding import HashEmbedding
from gyr_hybrid.testing.endpoint import FakeEndpoint
from gyr_hybrid.testing.llm import ScriptedLLM
from gyr_hybrid.testing.service import FakeRequest

__all__ = ["FakeEndpoint", "FakeRequest", "HashEmbedding", "ScriptedLLM"]
