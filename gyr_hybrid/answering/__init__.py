"""Sections to an answer whose every sentence carries a checked citation."""

from gyr_hybrid.answering.engine import CitedQueryEngine
from gyr_hybrid.answering.response import Citation, CitedResponse, UnknownIdentifier
from gyr_hybrid.answering.streaming import CitedAsyncStreamingResponse, CitedStreamingResponse
from gyr_hybrid.answering.verification.llm_verifier import LLMVerifier
from gyr_hybrid.answering.verification.verdict import Verdict, Verifier
from gyr_hybrid.answering.verification.verifier import verify

__all__ = [
    "Citation",
    "CitedAsyncStreamingResponse",
    "CitedQueryEngine",
    "CitedResponse",
    "CitedStreamingResponse",
    "LLMVerifier",
    "UnknownIdentifier",
    "Verdict",
    "Verifier",
    "verify",
]
