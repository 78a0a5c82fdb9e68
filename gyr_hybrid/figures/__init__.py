"""Numbers, amounts, units, rates, dates, codes: found in a text and compared."""

from gyr_hybrid.figures.bounds import bound_words, opposite
from gyr_hybrid.figures.derivation import derived
from gyr_hybrid.figures.matching import approximate, compare, standing
from gyr_hybrid.figures.measures import UNITS
from gyr_hybrid.figures.normaliser import Figure, FigureValue, find_figures
from gyr_hybrid.figures.numerals import even_fold
from gyr_hybrid.figures.ranges import source_figures

__all__ = [
    "UNITS",
    "Figure",
    "FigureValue",
    "approximate",
    "bound_words",
    "compare",
    "derived",
    "even_fold",
    "find_figures",
    "opposite",
    "source_figures",
    "standing",
]
