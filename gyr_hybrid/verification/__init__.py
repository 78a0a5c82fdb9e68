"""Whether sections bear a sentence: quotations, facts, near-quotations, judges."""

from gyr_hybrid.verification.verdict import Claim, Quote, Verdict, Verifier
from gyr_hybrid.verification.verifier import check, verify

__all__ = ["Claim", "Quote", "Verdict", "Verifier", "check", "verify"]
