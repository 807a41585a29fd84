"""Charts with error bars, by Altair, which is an extra."""

from hedgerow.answer.plot.library import AnyChart, altair, harmless, svg
from hedgerow.answer.plot.panels import plot_answer
from hedgerow.answer.plot.spending import Errors, plot_curve

__all__ = ["AnyChart", "Errors", "altair", "harmless", "plot_answer", "plot_curve", "svg"]
