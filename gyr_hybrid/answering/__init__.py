"""Sections to an answer whose every sentence carries a checked citation."""

from gyr_hybrid.answering.engine import CitedQueryEngine
from gyr_hybrid.answering.response import Citation, CitedResponse, UnknownIdentifier
from gyr_hybrid.answering.streaming import CitedAsyncStreamingResponse, CitedStreamingResponse

__all__ = [
    "Citation",
    "CitedAsyncStreamingResponse",
    "CitedQueryEngine",
    "CitedResponse",
    "CitedStreamingResponse",
    "UnknownIdentifier",
]
