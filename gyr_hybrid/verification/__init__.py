"""Whether sections bear a sentence: quotations, facts, near-quotations, judges."""

from gyr_hybrid.verification.judges import EndpointVerifier, LLMVerifier
from gyr_hybrid.verification.judging import ajudge_claims, judge_claims
from gyr_hybrid.verification.verdict import Claim, Quote, Verdict, Verifier
from gyr_hybrid.verification.verifier import check, verify

__all__ = [
    "Claim",
    "EndpointVerifier",
    "LLMVerifier",
    "Quote",
    "Verdict",
    "Verifier",
    "ajudge_claims",
    "check",
    "judge_claims",
    "verify",
]
