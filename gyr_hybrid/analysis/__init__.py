"""Text to tokens, codes and sentences; nothing here knows LlamaIndex."""

from gyr_hybrid.analysis.analyzer import Analyzer
from gyr_hybrid.analysis.codes import Code, Mention
from gyr_hybrid.analysis.folding import fold
from gyr_hybrid.analysis.sentences import count_tokens, split_sentences

__all__ = ["Analyzer", "Code", "Mention", "count_tokens", "fold", "split_sentences"]
