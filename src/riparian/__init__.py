"""Online random forests that provably learn.

A riparian forest grows along a stream; this one grows on a stream of data: nothing is stored, memory
is bounded, and the answer converges to the best possible one (Denil, Matheson and de Freitas,
*Consistency of Online Random Forests*, ICML 2013).
"""

from importlib.metadata import version

from riparian import quick_sklearn as quick_sklearn  # first: all the others import scikit-learn
from riparian.estimator.schedules import ConsistencyWarning, Geometric, Polynomial
from riparian.forest import OnlineForestClassifier
from riparian.saffari import SaffariForestClassifier
from riparian.snapshot.errors import SnapshotError
from riparian.snapshot.load import from_bytes, load

__version__ = version("riparian")

__all__ = [
    "OnlineForestClassifier",
    "SaffariForestClassifier",
    "Geometric",
    "Polynomial",
    "ConsistencyWarning",
    "load",
    "from_bytes",
    "SnapshotError",
]
