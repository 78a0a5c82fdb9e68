"""Numbers, amounts, units, rates, dates, codes: found in a text and compared."""

from gyr_hybrid.figures.arithmetic import derived, reckons
from gyr_hybrid.figures.around import bound_words, opposite
from gyr_hybrid.figures.comparison import Standing, approximate, compare, standing, written
from gyr_hybrid.figures.find import find_figures, source_figures
from gyr_hybrid.figures.grammar import even_fold
from gyr_hybrid.figures.scan import Figure, FigureValue
from gyr_hybrid.figures.units import UNITS

__all__ = [
    "UNITS",
    "Figure",
    "FigureValue",
    "Standing",
    "approximate",
    "bound_words",
    "compare",
    "derived",
    "even_fold",
    "find_figures",
    "opposite",
    "reckons",
    "source_figures",
    "standing",
    "written",
]
