"""The report: a forest and the scores along its stream, as one HTML file.

It needs plotly (`pip install "riparian[cli]"`), whose script is in the file: about 5 MB, and nothing
is ever fetched from a network.
"""

from riparian.report.comparison import Comparison
from riparian.report.report import Report

__all__ = ["Comparison", "Report"]
