"""Numbers, amounts, units, rates, dates, codes: found in a text and compared."""

from gyr_hybrid.figures.arithmetic import derived, reckons
from gyr_hybrid.figures.comparison import Standing, compare, standing, written
from gyr_hybrid.figures.find import find_figures, source_figures
from gyr_hybrid.figures.grammar import even_fold
from gyr_hybrid.figures.scan import Figure
from gyr_hybrid.figures.units import UNITS

__all__ = [
    "UNITS",
    "Figure",
    "Standing",
    "compare",
    "derived",
    "even_fold",
    "find_figures",
    "reckons",
    "source_figures",
    "standing",
    "written",
]
