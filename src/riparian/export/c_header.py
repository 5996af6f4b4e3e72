"""A C header: tables and one function, which allocates no memory and needs no library.

It adds shares as whole numbers, as our engine does (R11, R26), so its probabilities, or numbers, are
ours to the last bit. Leaves with the same answer share one entry.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Template

import numpy as np
from numpy.typing import NDArray

from riparian.engine.engine import Correction
from riparian.model.ensemble import WHOLE, Ensemble

LINE = 100  # characters of a line of a table
PLACE = " " * 33  # below the test of a node

HEADER = Template("""\
/* A random forest of riparian: $trees trees, $leaves leaves, $of. C99 or C++11.

   $signature

   x: ${NAME}_FEATURES numbers, NAN where one is missing.$codes
   $returns

   Made from a forest as it was at one moment. Do not edit.$lag */
#ifndef ${NAME}_H
#define ${NAME}_H

#ifdef __FAST_MATH__
#error "-ffast-math forgets about NAN, which is a missing value here"
#endif

#include <stdint.h>

#define ${NAME}_FEATURES $features
$labels$categories$in_half
static inline $signature
{
$body
}

#endif
""")

# -- where the two targets differ -----------------------------------------------------------------

TO_CLASS = "int ${name}_predict(const float *x, double *proba)"
TO_NUMBER = "double ${name}_predict(const float *x)"

RETURNS_CLASS = """proba: room for ${NAME}_CLASSES probabilities, or a null pointer.
   Returns the number of the most probable class, the first among equals; its label is
   ${name}_labels[number]."""
RETURNS_NUMBER = "Returns the predicted number."

LAG = Template("""

   Answers follow the last target that the forest has learned, so they are for the point that
   comes $lag after it. A forest with lag=0 answers for any point.""")

LABELS = Template("""\
#define ${NAME}_CLASSES $classes

static const char *const ${name}_labels[] = {
$labels};
""")

CLASS_OF_SUMS = Template("""\
    /* Per answer: where its shares begin; per share: its class, and the share in units of 2^-40. */
    static const $begin_type begin[] = {
$begin};
    static const $class_type share_class[] = {
$share_class};
    static const int64_t share[] = {
$share};

    int64_t sums[${NAME}_CLASSES] = {0};
    double most = -1.0;
    int best = 0;
$descent        for (uint32_t i = begin[child[node]]; i < begin[child[node] + 1]; ++i)
            sums[share_class[i]] += share[i];
    }
    for (int k = 0; k < ${NAME}_CLASSES; ++k) {
        const double p = (double)sums[k] / $whole;
        if (proba) proba[k] = p;
        if (p > most) {
            most = p;
            best = k;
        }
    }
    return best;""")

NUMBER_OF_SUM = Template("""\
    /* Per answer: the mean of a leaf, less the first target, in units of 2^-40 of the scale. */
    static const int64_t share[] = {
$share};

    int64_t sum = 0;
$descent        sum += share[child[node]];
    }
    const double plain = (double)sum / $whole * $scale;
    return $answer + $origin;""")

NO_CLASS_LEARNED = """\
    (void)x;
    for (int k = 0; proba && k < ${NAME}_CLASSES; ++k) proba[k] = 1.0 / ${NAME}_CLASSES;
    return 0;"""
NO_NUMBER_LEARNED = """\
    (void)x;
    return $origin;"""

# -- trees ----------------------------------------------------------------------------------------

NODES = Template("""\
    /* Per node: the feature that it asks for, or -1 for a leaf; $goes goes to the child,
       all else to the next one after it; of a leaf, the child is the number of its answer. */
    static const $feature_type feature[] = {
$feature};
    static const float threshold[] = {
$threshold};
$categorical    static const $child_type child[] = {
$child};
    static const $child_type root[] = {
$root};
""")

DESCENT = Template("""\
    for (uint32_t tree = 0; tree < $trees; ++tree) {
        uint32_t node = root[tree];
        while (feature[node] >= 0)
            node = child[node] + !($test);
""")

CODES = Template("""
   A category is its place in ${name}_categories_N, N being the number of the feature; any
   other number is a category that the forest does not know.""")

CATEGORIES = Template("""
static const char *const ${name}_categories_$feature[] = {
$names};
""")

CATEGORICAL = Template("""\
    /* Per feature: how many categories it has; 0 if it is a number. */
    static const uint32_t codes[] = {
$codes};
""")

# Written where a split sends half of the categories left (R22).
IN_HALF = Template("""
/* Whether a category is in a half: a threshold below 0 says in which. */
static inline int ${name}_in_half(float x, float threshold, uint32_t codes)
{
    const uint64_t half = (uint64_t)(-1.0f - threshold);
    uint64_t z;
    if (!(x >= 0.0f && x < (float)codes) || x != (float)(uint32_t)x) return 0;
    z = (half / 64 << 24 | (uint64_t)x) + UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (int)((z ^ z >> 31) >> half % 64 & 1);
}
""")


def header(ensemble: Ensemble, name: str) -> str:
    name = identifier(name)
    names = {"name": name, "NAME": name.upper(), "origin": repr(ensemble.origin)}
    classes = ensemble.classes
    signature, returns, nothing, of, labels = TO_NUMBER, RETURNS_NUMBER, NO_NUMBER_LEARNED, "", ""
    if classes is None:
        of = "for numbers"
    else:
        signature, returns, nothing = TO_CLASS, RETURNS_CLASS, NO_CLASS_LEARNED
        of = f"{len(classes)} classes"
        labels = LABELS.substitute(
            names,
            classes=len(classes),
            labels=table(text(str(label)) for label in classes.tolist()),
        )
    return HEADER.substitute(
        names,
        trees=ensemble.n_trees,
        leaves=len(ensemble.leaf),
        of=of,
        signature=Template(signature).substitute(names),
        returns=Template(returns).substitute(names),
        features=ensemble.n_features,
        lag=LAG.substitute(lag=ensemble.lag) if ensemble.lag else "",
        labels=labels,
        codes=CODES.substitute(names) if ensemble.categories else "",
        categories="".join(
            CATEGORIES.substitute(names, feature=number, names=table(text(str(v)) for v in values))
            for number, values in ensemble.categories.items()
            if values
        ),
        in_half=IN_HALF.substitute(names) if ensemble.is_half.any() else "",
        body=(
            Template(nothing).substitute(names)
            if ensemble.abstains
            else _forest(ensemble, name, names)
        ),
    )


def _corrected(correction: Correction | None) -> str:
    """Return the answer in C, given `plain`, that of the trees (R29)."""
    if correction is None:
        return "plain"
    error = correction.error_share * (correction.target - correction.answer)
    target = f"{correction.target_share!r} * ({correction.target!r} - plain)"
    return f"(plain + {error!r} + {target})"


def _forest(ensemble: Ensemble, name: str, names: dict[str, str]) -> str:
    tests, whole = _tests(ensemble, name), f"{ensemble.n_trees * WHOLE}.0"
    descent = DESCENT.substitute(trees=ensemble.n_trees, test=tests["test"])
    if ensemble.classes is None:
        share, answer = np.unique(ensemble.share, return_inverse=True)
        summed = NUMBER_OF_SUM.substitute(
            names,
            descent=descent,
            whole=whole,
            share=table(share.tolist()),
            scale=ensemble.scale,
            answer=_corrected(ensemble.correction),
        )
    else:
        answer, begin, share_class, shares = distinct_answers(ensemble)
        summed = CLASS_OF_SUMS.substitute(
            names,
            descent=descent,
            whole=whole,
            begin_type=unsigned(begin[-1]),
            begin=table(begin),
            class_type=unsigned(ensemble.n_outputs),
            share_class=table(share_class),
            share=table(shares),
        )
    child = ensemble.left.astype(np.int64)
    child[ensemble.leaf] = answer
    nodes = NODES.substitute(
        tests,
        feature_type="int16_t" if ensemble.n_features < 2**15 else "int32_t",
        feature=table(ensemble.feature.tolist()),
        threshold=table(map(literal, np.where(ensemble.is_leaf, 0, ensemble.threshold))),
        child_type=unsigned(len(child)),
        child=table(child.tolist()),
        root=table(ensemble.root.tolist()),
    )
    return nodes + summed


def _tests(ensemble: Ensemble, name: str) -> dict[str, str]:
    """Return the code of a node's test. Without categories, no feature has to be looked up."""
    number, category = (f"x[feature[node]] {sign} threshold[node]" for sign in ("<=", "=="))
    if not ensemble.equals.any():
        return {"goes": "x <= threshold", "test": number, "categorical": ""}
    goes = "x <= threshold,\n       or of a category x == threshold,"
    if ensemble.is_half.any():
        goes += " or where that is below 0, x in a half,"
        half = f"{name}_in_half(x[feature[node]], threshold[node], codes[feature[node]])"
        category = f"threshold[node] < 0.0f\n{PLACE}? {half}\n{PLACE}: {category}"
    codes = [len(ensemble.categories.get(i, ())) for i in range(ensemble.n_features)]
    return {
        "goes": goes,
        "test": f"!codes[feature[node]] ? {number}\n{PLACE}: {category}",
        "categorical": CATEGORICAL.substitute(codes=table(codes)),
    }


def distinct_answers(
    ensemble: Ensemble,
) -> tuple[NDArray[np.int64], list[int], list[int], list[int]]:
    """Return the number of each leaf's answer; the shares of all answers, and where each begins."""
    numbers: dict[bytes, int] = {}
    answer = np.empty(len(ensemble.leaf), dtype=np.int64)
    begin, share_class, share = [0], list[int](), list[int]()
    pairs = np.stack([ensemble.share_class, ensemble.share], axis=1)
    edges = [*ensemble.share_begin.tolist(), len(pairs)]
    for leaf in range(len(answer)):
        mine = pairs[edges[leaf] : edges[leaf + 1]]
        key = mine.tobytes()
        if key not in numbers:
            numbers[key] = len(numbers)
            share_class += mine[:, 0].tolist()
            share += mine[:, 1].tolist()
            begin.append(len(share))
        answer[leaf] = numbers[key]
    return answer, begin, share_class, share


def table(values: Iterable[object]) -> str:
    """The values with commas between them, in lines."""
    lines, line = list[str](), ""
    for value in values:
        entry = f"{value},"
        if len(line) + len(entry) > LINE:
            lines.append(line)
            line = ""
        line += entry
    return "".join(f"{each}\n" for each in [*lines, line])


def unsigned(largest: int) -> str:
    return "uint16_t" if largest < 2**16 else "uint32_t"


def literal(value: np.float32) -> str:
    """A number of C that is this float to the last bit: nine digits are enough.

    >>> literal(np.float32(3)), literal(np.float32(0.1)), literal(np.float32(-1e30))
    ('3.0f', '0.100000001f', '-1.00000002e+30f')
    """
    digits = f"{float(value):.9g}"
    return f"{digits}f" if "." in digits or "e" in digits else f"{digits}.0f"


def text(label: str) -> str:
    """A string of C, in UTF-8; whatever could end it is written as a number.

    >>> print(text('5" ?'))
    "5\\042 \\077"
    """
    plain = re.compile(rb"[A-Za-z0-9 _.,:;()<>=+*/-]")
    written = "".join(
        chr(byte) if plain.fullmatch(bytes([byte])) else f"\\{byte:03o}"
        for byte in label.encode("utf-8", "surrogateescape")
    )
    return f'"{written}"'


def identifier(name: str) -> str:
    """The name as C takes it.

    >>> identifier("my-sensors.v2"), identifier("2nd"), identifier("")
    ('my_sensors_v2', 'forest_2nd', 'forest')
    """
    letters = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    if not letters:
        return "forest"
    return letters if letters[0].isalpha() else f"forest_{letters}"
