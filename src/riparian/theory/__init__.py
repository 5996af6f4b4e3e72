"""The paper's theorem as functions.

The probability of error of the forest goes to that of the Bayes classifier, the least possible, if the
points of the stream are independent and have one distribution, with a density that is bounded from
above and below. The proof goes upwards: from two streams to a cell, to a tree, to the forest.

| the paper says | here | what it takes |
|---|---|---|
| section 3: α grows to infinity, d/α(d) -> 0, β >= α | `check_schedule` | |
| lemma big-parts: both streams go on forever | `binomial_tail`, with p_k | R1 |
| lemma binomial: so do the points of a stream in a cell | `binomial_tail`, `points_for` | μ(A) > 0 |
| proposition will-split: an active cell splits | `will_split`, `attempt_succeeds` | β >= α |
| proposition infinite-splits: and splits again, forever | `infinite_splits` | |
| proposition diam-to-zero: so its sides go to 0 | `expected_side`, `widest_child` | bounded density |
| proposition n-to-infty: and its points to infinity | `least_points` | α -> ∞ |
| theorem 6.1 of Devroye, Györfi and Lugosi: then η_t goes to η | | labels that vote do not split (R6) |
| proposition multiclass: so the tree is consistent | `voting`, in words | R11 |
| proposition condition-on-full-measure: whatever the streams | `streams`, in words | R1, R13 |
| proposition multi-biau: and so is the vote of M trees | `vote_bound` | |
| fixed size fringe: splits go on | `rounds` | |
| lemma upper-bound-K: and become rare among points | `max_splits`, `max_path` | α never falls |
| cells below a cell become small | `shrinking_factor`, `largest_descendant` | |
| remark on s(A) = 0: such a leaf may wait | `fringe`, in words | R12 |
| every leaf with s(A) > 0 becomes active | `fringe_wait` | d/α(d) -> 0 |

**Kept points** (R19 to R21) go beyond the paper, and its proof still covers them:

- Estimation labels change only histograms. A look, a leaf that settles and a tree that is rebuilt choose
  by the labels of structure points; of estimation points they use only the number on either side.
  A point has the same stream in a tree each time the tree looks at it (R13).
- After W points there is no regrowth. A tree is then a finite partition that estimation labels did not
  choose, and theorem 6.1 does not depend on how the partition was made.
- A leaf that receives points loses a kept one in the end, for W is finite: it settles, and from there on
  the paper's rules and proof go on, with a few more points to start from. Leaves that never settle are
  not covered.
- m must be bounded, as in the paper. If every kept value were a threshold, splits at the end of a cell
  could go on forever, and the rest of the cell would not shrink.

Only the count of upper-bound-K changes: a point may count for several splits (`max_splits`).

Where a statement of the paper is not quite right, the docstring says how, the function is the right
one, and a test shows the difference: the constants of diam-to-zero hold for uniform points alone,
depths are one too high in n-to-infty and upper-bound-K, and four steps of the fixed size fringe needed
corrections. The theorem stands in all of this, except for an open step of the fringe (see `fringe`).

`certificate` checks all of it against a live forest.
"""

from riparian.theory.certificate import Certificate, certificate
from riparian.theory.conditions import Condition, ScheduleCheck, check_schedule
from riparian.theory.counting import least_points, max_path, max_splits
from riparian.theory.fringe import (
    FringeWait,
    fringe_wait,
    largest_descendant,
    rounds,
    shrinking_factor,
)
from riparian.theory.shrinking import expected_side, widest_child
from riparian.theory.splitting import Waits, attempt_succeeds, infinite_splits, will_split
from riparian.theory.streams import Tail, binomial_tail, points_for
from riparian.theory.voting import vote_bound

__all__ = [
    "check_schedule",
    "ScheduleCheck",
    "Condition",
    "binomial_tail",
    "Tail",
    "points_for",
    "will_split",
    "Waits",
    "infinite_splits",
    "attempt_succeeds",
    "expected_side",
    "widest_child",
    "least_points",
    "max_splits",
    "max_path",
    "vote_bound",
    "shrinking_factor",
    "largest_descendant",
    "fringe_wait",
    "FringeWait",
    "rounds",
    "certificate",
    "Certificate",
]
