"""Text to tokens, codes and sentences; nothing here knows LlamaIndex."""

from gyr_hybrid.analysis.analyzer import RULES, Analyzer
from gyr_hybrid.analysis.codes import Code, Mention
from gyr_hybrid.analysis.folding import fold
from gyr_hybrid.analysis.sentences import count_tokens, split_sentences
from gyr_hybrid.analysis.word_lists import LEXICON_FILES

__all__ = ["LEXICON_FILES", "RULES", "Analyzer", "Code", "Mention", "count_tokens", "fold", "split_sentences"]
