"""A report shows what is there, all of it in one file, to any reader."""

from __future__ import annotations

import json
import pickle
import re
import string
import sys
from functools import cache
from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.random import RandomState
from sklearn.exceptions import NotFittedError

from riparian import AdaptiveForestClassifier, Geometric, OnlineForestClassifier, from_bytes
from riparian.evaluation import Prequential, Scores
from riparian.explain import SurestMistakes
from riparian.inspection import tree_view
from riparian.inspection.colours import rgb
from riparian.model.trust import head_in_words, head_name
from riparian.report import Report, answers
from riparian.report.trees import count_leaves, size_label
from riparian.streams import GaussianMixture
from riparian.tools.text import count, percent, size

from report_browser import FAINT, OVERFLOWING, Page, running_browser

pytest.importorskip("plotly", reason="plotly is not installed")

HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    "<b>bold</b> & \"quoted\" 'names'",
    "2024-01-01",
    "$7$ %{x}",
)
SECTIONS = ("overview", "stream", "answers", "features", "trees", "theory", "parameters")
CHARTS = (
    "accuracy", "leaves", "memory", "confusion", "calibration", "shares", "importances", "depths",
    "sizes", "trust",
)  # fmt: skip


# -- reports --------------------------------------------------------------------------------------


def grown(names, n=1500, features=3, batch=50, seed=0, **settings):
    """A forest that learned as many classes as there are names, and how its stream went."""
    rng = np.random.default_rng(seed)
    y = rng.choice(len(names), size=n, p=(p := 1 / np.arange(1, len(names) + 1)) / p.sum())
    X = rng.normal(size=(len(names), features))[y] * 2 + rng.normal(size=(n, features))
    forest = OnlineForestClassifier(4, random_state=seed, min_gain=0.05, **settings)
    test = Prequential(window=200)
    for first in range(0, n, batch):
        some = slice(first, first + batch)
        labels = np.array(names)[y[some]]
        if first:
            test.update(labels, forest.predict_proba(X[some]), forest.classes_)
        forest.partial_fit(X[some], labels)
        stats = forest.stats()
        if first:
            test.mark(
                row=first + batch, leaves=stats["leaves"], active=stats["active"],
                memory=forest.memory()["total"], seconds=first / 1000,
            )  # fmt: skip
    return forest, test


def full(names=("ash", "elm", "fir", "oak", "yew"), title="Trees", **settings):
    forest, test = grown(names, **settings)
    return Report(title, forest, {"source": "trees.csv"}, test.curve, test.scores)


def hostile():
    report = full(HOSTILE, title=f"{HOSTILE[0]} $title")
    report.forest.model_.feature_names = ["<i>x</i>", 'a"b', "y" * 300]
    return Report(
        report.title, report.forest, {HOSTILE[1]: HOSTILE[2]}, report.curve, report.scores
    )


def bare(**settings):
    X, y = GaussianMixture.paper().sample(800, random_state=0)
    settings = {"random_state": 0, "min_gain": 0.05, **settings}
    return Report("Bare", OnlineForestClassifier(4, **settings).partial_fit(X, y))


def empty():
    forest = OnlineForestClassifier(2, random_state=0)
    return Report("Nothing yet", forest.partial_fit([[0, 0]], ["oak"], sample_weight=[0]))


def predicting_only():
    report = full(fringe_size=5)
    forest = from_bytes(report.forest.to_bytes(prediction_only=True))
    return Report("Only for predicting", forest, scores=report.scores)


def adaptive():
    """Classes that change places three times, a rare one among them; mistakes, and a plane."""
    rng = np.random.default_rng(0)
    X = rng.random((2400, 3)).astype(np.float32)
    y = np.where((X[:, 0] > 0.93) ^ (np.arange(2400) // 600 % 2 == 1), "late", "on time")
    forest, test = AdaptiveForestClassifier(10, random_state=0), Prequential(window=200)
    mistakes = SurestMistakes()
    for first in range(0, 2400, 100):
        some = slice(first, first + 100)
        test.test_then_train(forest, X[some], y[some], watch=mistakes.update)
        test.mark_forest(forest, row=first + 100, seconds=1.0)
    return Report(
        "Late flights",
        forest,
        curve=test.curve,
        scores=test.scores,
        mistakes=mistakes.mistakes,
        sample=X[:200],
        pair=(0, 1),
    )


REPORTS = {
    "full": lambda: full(fringe_size=20),
    "of two classes": lambda: full(["no", "yes"]),
    "of 26 classes": lambda: full(list(string.ascii_uppercase), fringe_size=20),
    "of 40 classes with long names": lambda: full([f"{'species ' * 4}{i}" for i in range(40)]),
    "of 300 classes": lambda: full(list(range(300)), features=8),
    "without a curve": lambda: Report("Held out", (whole := full()).forest, scores=whole.scores),
    "bare": bare,
    "empty": empty,
    "predicting only": predicting_only,
    "hostile": hostile,
    "adaptive": adaptive,
}


class Seen(HTMLParser):
    """What a reader of HTML finds in a page."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.open, self.tags, self.texts = [], [], []
        self.figures = {}
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag != "meta":
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        tag, attrs = self.open[-1] if self.open else ("", {})
        if attrs.get("type") == "application/json":
            self.figures[attrs["id"].removeprefix("data-")] = json.loads(data)
        elif tag not in ("script", "style"):
            self.texts.append(data)

    def all(self, tag, name):
        return [attrs[name] for each, attrs in self.tags if each == tag and name in attrs]


@pytest.fixture
def whole():
    return made("full")


@cache
def made(name):
    """A report and its page, which takes a while to make and to read."""
    report = REPORTS[name]()
    return SimpleNamespace(report=report, html=(html := report.html()), seen=Seen(html))


every_report = pytest.mark.parametrize("name", REPORTS)


# -- what is there --------------------------------------------------------------------------------


@every_report
def test_a_page_is_well_formed_and_says_what_its_parts_are(name):
    seen = made(name).seen
    ids = [attrs["id"] for _, attrs in seen.tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    kinds = [tag for tag, _ in seen.tags]
    assert kinds.count("table") == kinds.count("caption")
    assert kinds.count("figure") == kinds.count("figcaption") == len(seen.figures)
    charts = [attrs for _, attrs in seen.tags if attrs.get("class") == "chart"]
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in charts)
    assert kinds.count("h1") == 1
    assert seen.all("a", "href") == [f"#{name}" for name in seen.all("section", "id")]


@every_report
def test_a_page_needs_no_other_file(name):
    seen = made(name).seen
    policy = seen.all("meta", "content")[0]
    assert policy.startswith("default-src 'none';") and "http" not in policy
    for name in ("src", "srcset", "action", "data"):
        assert not any(name in attrs for _, attrs in seen.tags)
    assert all(link.startswith("#") for link in seen.all("a", "href"))
    assert "link" not in [tag for tag, _ in seen.tags]


@pytest.mark.parametrize(
    ("name", "sections", "charts"),
    [
        ("full", SECTIONS, CHARTS),
        ("without a curve", SECTIONS[:1] + SECTIONS[2:], CHARTS[3:]),
        ("bare", SECTIONS[:1] + SECTIONS[3:], CHARTS[6:]),
        ("empty", ("overview", "trees", "theory", "parameters"), ()),
        ("of 300 classes", SECTIONS, tuple(c for c in CHARTS if c != "confusion")),
    ],
)
def test_a_section_or_chart_is_there_when_there_is_something_in_it(name, sections, charts):
    seen = made(name).seen
    assert tuple(seen.all("section", "id")) == sections
    assert tuple(seen.figures) == charts


def test_scores_of_no_rows_and_a_curve_of_one_point_are_nothing_to_show():
    report = full()
    page = Report("Just begun", report.forest, {}, report.curve[:1], Scores()).html()
    assert Seen(page).all("section", "id") == list(SECTIONS[:1] + SECTIONS[3:])


def test_the_same_report_has_the_same_bytes(whole):
    report = whole.report
    copy = pickle.loads(pickle.dumps(report.forest))
    again = Report(report.title, copy, dict(report.facts), list(report.curve), report.scores)
    assert again.html() == whole.html


def test_a_report_changes_nothing_in_the_forest():
    report = full()
    before = report.forest.to_bytes()
    report.html()
    assert report.forest.to_bytes() == before


def test_the_file_has_the_page(whole, tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older report")
    whole.report.write(path)
    assert path.read_bytes() == whole.html.encode()
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_that_fails_leaves_the_older_one(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("an older report")
    with pytest.raises(NotFittedError):
        Report("Too early", OnlineForestClassifier()).write(path)
    assert path.read_text() == "an older report"


def test_without_plotly_the_error_says_how_to_get_it(monkeypatch):
    report = bare()
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(ImportError, match=r'pip install "riparian\[cli\]"'):
        report.html()


# -- what it says ---------------------------------------------------------------------------------


LABELS = (
    "points learned", "rows scored", "accuracy", "balanced accuracy", "kappa", "F1", "log loss",
    "Brier", "AUC", "average precision", "classes", "trees", "leaves", "memory",
)  # fmt: skip


def test_the_key_figures_are_those_of_the_scores_and_the_forest(whole):
    scores, forest = whole.report.scores, whole.report.forest
    first = whole.seen.texts.index("points learned")
    shown = [text for text in whole.seen.texts[first:] if text.strip()][: 2 * len(LABELS)]
    assert dict(zip(shown[::2], shown[1::2], strict=True)) == {
        "points learned": "1,500",
        "rows scored": "1,450",
        **{name: f"{value:.3f}" for name, value in scores.headline().items()},
        "classes": "5",
        "trees": "4",
        "leaves": count(forest.stats()["leaves"]),
        "memory": size(forest.memory()["total"]),
    }


def on_the_mixture(**parameters):
    forest = OnlineForestClassifier(4, random_state=0, **parameters)
    return forest.partial_fit(*GaussianMixture.paper().sample(3000, random_state=0))


def test_a_budget_that_binds_is_said():
    bound = Report(title="a", forest=on_the_mixture(max_memory="100kB", kept_points=100)).html()
    assert re.search(r"max_memory binds: [\d,]+ leaves evicted from the fringe", bound)
    free = Report(title="a", forest=on_the_mixture(max_memory="100MB", kept_points=100)).html()
    assert "binds:" not in free and "has had no effect yet" in free


def test_young_leaves_and_kept_points_are_shown_where_there_are_any():
    kept, none = (Report(title="a", forest=on_the_mixture(kept_points=w)).html() for w in (100, 0))
    for words in ("young leaves, which look among kept points", "lists of kept points"):
        assert words in kept and words not in none


def test_the_learning_curve_is_the_curve_and_the_most_frequent_class(whole):
    report = whole.report
    window, so_far, guessing = whole.seen.figures["accuracy"]["data"]
    assert window["x"] == so_far["x"] == guessing["x"] == [point.row for point in report.curve]
    assert window["y"] == [point.window_accuracy for point in report.curve]
    assert so_far["y"] == [point.accuracy for point in report.curve]
    assert set(guessing["y"]) == {report.scores.confusion.sum(axis=1).max() / report.scores.rows}


def test_leaves_and_memory_are_those_of_the_curve(whole):
    curve = whole.report.curve
    leaves, active = whole.seen.figures["leaves"]["data"]
    assert leaves["y"] == [point.leaves for point in curve]
    assert active["y"] == [point.active for point in curve]
    (held,) = whole.seen.figures["memory"]["data"]
    assert held["y"] == [point.memory for point in curve]


def test_the_matrix_has_the_counts_and_the_shares_of_the_truth(whole):
    matrix = whole.report.scores.confusion
    (heat,) = whole.seen.figures["confusion"]["data"]
    np.testing.assert_allclose(heat["z"], matrix / matrix.sum(axis=1, keepdims=True))
    names, row = whole.report.scores.classes, heat["customdata"][1]
    assert [cell[:3] for cell in row] == [
        [names[1], name, count(n)] for name, n in zip(names, matrix[1].tolist(), strict=True)
    ]


def test_a_class_that_never_was_the_truth_has_an_empty_row():
    report = bare()
    scores = Scores()
    scores.update([0, 0], [[0.9, 0.1], [0.2, 0.8]], [0, 1])
    (heat,) = Seen(Report("", report.forest, scores=scores).html()).figures["confusion"]["data"]
    assert heat["z"] == [[0.5, 0.5], [0.0, 0.0]]


def test_the_calibration_curve_is_that_of_the_bins(whole):
    bins = whole.report.scores.calibration
    diagonal, curve, counts = whole.seen.figures["calibration"]["data"]
    assert (diagonal["x"], diagonal["y"]) == ([0, 1], [0, 1])
    assert curve["x"] == counts["x"] == [b.confidence for b in bins]
    assert curve["y"] == [b.accuracy for b in bins]
    assert counts["y"] == [b.count for b in bins]


def test_class_shares_are_of_truth_and_prediction(whole):
    scores = whole.report.scores
    truth, predicted = whole.seen.figures["shares"]["data"]
    assert truth["x"] == (scores.confusion.sum(axis=1) / scores.rows).tolist()
    assert predicted["x"] == (scores.confusion.sum(axis=0) / scores.rows).tolist()


def test_importances_go_down_and_have_the_names_of_the_features():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 30))
    forest = OnlineForestClassifier(4, random_state=0, min_gain=0.05)
    forest.partial_fit(X, (X[:, 7] > 0).astype(int))
    forest.model_.feature_names = [f"column {i}" for i in range(30)]
    seen = Seen(Report("Thirty features", forest).html())
    (bars,) = seen.figures["importances"]["data"]
    importances = forest.feature_importances_
    assert bars["x"] == sorted(importances.tolist(), reverse=True)[:20]
    assert bars["customdata"][0] == f"column {importances.argmax()}"
    assert any("20 of 30 features" in text for text in seen.texts)


def test_histograms_count_every_leaf_of_every_tree(whole):
    forest = whole.report.forest
    views = [tree_view(forest, i) for i in range(4)]
    depths = np.concatenate([view.depth[view.is_leaf] for view in views])
    sizes = np.concatenate([view.points[view.is_leaf] for view in views])
    (by_depth,) = whole.seen.figures["depths"]["data"]
    assert by_depth["y"] == np.bincount(depths).tolist()
    (by_size,) = whole.seen.figures["sizes"]["data"]
    lengths = [int(size).bit_length() for size in sizes]
    assert by_size["y"] == np.bincount(lengths).tolist()
    assert by_size["customdata"][:4] == ["0", "1", "2–3", "4–7"]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 4, 7, 8, 2**20 - 1, 2**20])
def test_a_leaf_is_counted_where_the_label_says(size):
    """A forest of one leaf; R17: weights are whole numbers, so one point can weigh as much."""
    forest = OnlineForestClassifier(1, random_state=0, structure_fraction=1e-9)
    forest.partial_fit([[0.0]], ["oak"], sample_weight=[size])
    place = int(np.flatnonzero(count_leaves(forest).by_size)[0])
    low, *high = (int(end.replace(",", "")) for end in size_label(place).split("–"))
    assert low <= size <= (high[0] if high else low)


def test_with_many_classes_the_pairs_confused_most_are_shown():
    report, seen = made("of 300 classes").report, made("of 300 classes").seen
    assert any("A matrix of" in text and "too large to read" in text for text in seen.texts)
    mistakes = report.scores.confusion * ~np.eye(len(report.scores.classes), dtype=bool)
    at = next(i for i, text in enumerate(seen.texts) if text.startswith("Most often confused: 15"))
    assert count(int(mistakes.max())) in seen.texts[at : at + 10]


def test_a_forest_without_a_mistake_has_no_confused_pairs():
    scores = Scores()
    scores.update([0, 1, 2], np.eye(3), [0, 1, 2])
    assert "Most often confused" not in Report("", bare().forest, scores=scores).html()


def test_a_forest_that_only_predicts_says_nothing_of_active_leaves(whole):
    assert "active leaves" in whole.seen.texts
    assert "active leaves" not in made("predicting only").seen.texts


@pytest.mark.parametrize("name", ["full", "empty", "predicting only"])
def test_the_certificate_is_shown_line_by_line(name):
    result = made(name).report.forest.certificate()
    texts = made(name).seen.texts
    assert result.verdict in texts
    for section, *row in result.rows():
        if section != "theorem":
            assert section.capitalize() in texts
            assert tuple(text for text in row if text) in runs(texts, sum(map(bool, row)))


def runs(texts, n):
    """All that n texts in a row say."""
    return set(zip(*(texts[i:] for i in range(n)), strict=False))


def test_the_theorem_is_shown_in_words_and_its_symbols_are_folded(whole):
    html = whole.html
    section = html[html.index('<section id="theory"') :].split("</section>")[0]
    words, _, symbols = section.partition("<details>")
    cells = whole.report.forest.certificate().cells
    assert f"cells with at most {round(cells.points[3]):,} voting points" in words
    assert "<table" not in words and "N^e(A(X))" in symbols and "N^e" not in words


def test_an_eager_forest_says_which_cells_its_answers_come_from():
    X, y = GaussianMixture.paper().sample(1500, random_state=0)
    forest = OnlineForestClassifier(3, random_state=0, eager=True, kept_points=1000)
    seen = Seen(Report("Eager", forest.partial_fit(X, y)).html())
    (bars,) = seen.figures["trust"]["data"]
    assert dict(zip(bars["customdata"], bars["y"], strict=True)) == {
        head_name(size): weight for size, weight in forest.trust_.items()
    }
    size = max(forest.trust_, key=forest.trust_.get)
    assert any(head_in_words(size) in text for text in seen.texts)
    assert any("The first 1,000 points both chose splits and voted." in t for t in seen.texts)
    honest = OnlineForestClassifier(3, random_state=0, eager=False).partial_fit(X, y)
    assert "trust" not in Seen(Report("Honest", honest).html()).figures


@pytest.mark.parametrize(
    ("confidence", "right", "word"), [(0.6, 0.95, "timid"), (0.95, 0.6, "sure"), (0.8, 0.8, None)]
)
def test_probabilities_far_from_the_truth_point_to_the_temperature(confidence, right, word):
    scores = Scores()
    n = round(100 * right)
    scores.update([0] * n + [1] * (100 - n), [[confidence, 1 - confidence]] * 100, [0, 1])
    text = answers.what_to_do(scores)
    if word is None:
        assert text == ""
    else:
        assert f"too {word}" in text and "riparian.calibration.OnlineTemperature" in text


def test_two_classes_have_the_curves_of_the_rarer_one():
    seen, scores = made("of two classes").seen, made("of two classes").report.scores
    curve = scores.curve().thinned(answers.MOST_POINTS)
    assert scores.positive == "yes" and len(curve.recall) == answers.MOST_POINTS
    roc, precision, lift = (seen.figures[n]["data"][-1] for n in ("roc", "precision", "lift"))
    assert roc["x"][1:] == curve.false_positive_rate.tolist()
    assert roc["y"][1:] == precision["x"][1:] == curve.recall.tolist()
    assert precision["y"][1:] == curve.precision.tolist() and lift["y"] == curve.lift.tolist()
    assert any(f"under the curve is {scores.auc:.3f}" in text for text in seen.texts)
    assert not {"roc", "precision", "lift"} & {*made("full").seen.figures}


def test_of_a_class_that_is_rare_the_ranking_comes_first():
    rng = np.random.default_rng(0)
    X = rng.random((2000, 2))
    y = np.where(rng.random(2000) < 0.1 * X[:, 0], "late", "on time")  # at most one in ten
    forest, test = OnlineForestClassifier(5, random_state=0), Prequential(window=200)
    for first in range(0, 2000, 100):
        some = slice(first, first + 100)
        test.test_then_train(forest, X[some], y[some])
        test.mark_forest(forest, row=first + 100, seconds=1.0)
    test.scores.update(["never"] * 20, [[0.5, 0.5]] * 20, ["late", "on time"])
    seen = Seen(Report("Late", forest, curve=test.curve, scores=test.scores).html())
    names = [*seen.figures]
    assert names.index("ranking") < names.index("accuracy")
    assert names.index("roc") < names.index("confusion")
    auc, precision = seen.figures["ranking"]["data"]
    assert auc["y"] == [point.auc for point in test.curve]
    assert precision["y"] == [point.average_precision for point in test.curve]
    assert any(text.startswith("Never predicted: ") and "never (" in text for text in seen.texts)


def test_a_condition_that_does_not_hold_is_shown():
    with pytest.warns(UserWarning, match="is constant"):
        weak = bare(alpha=Geometric(5, 1))
    texts = Seen(weak.html()).texts
    at = texts.index("α(d) -> ∞")
    assert texts[at + 1] == "no" and "is constant" in texts[at + 2]


def test_the_parameters_show_the_seed_and_what_differs_from_the_default():
    report = bare(random_state=RandomState(3), beta=30)
    texts = Seen(report.html()).texts
    seed = texts.index("random_state")
    assert texts[seed + 1] == str(report.forest.model_.engine.parameters.seed)
    beta = texts.index("beta")
    assert texts[beta + 1 : beta + 3] == ["30", "20.0"]


def test_names_are_shown_as_text():
    html, seen = made("hostile").html, made("hostile").seen
    assert html.count("<script") == len(seen.figures) + 2 + plotly_scripts()
    for text in (f"{HOSTILE[0]} $title", *HOSTILE):
        assert text in seen.texts
    assert not any("onerror" in attrs for _, attrs in seen.tags)
    ticks = seen.figures["importances"]["layout"]["yaxis"]["ticktext"]
    assert sorted(ticks) == ["&lt;i&gt;x&lt;/i&gt;", 'a"b', "y" * 19 + "…"]


def plotly_scripts():
    from plotly.offline import get_plotlyjs

    return get_plotlyjs().count("<script")


@pytest.mark.parametrize("scheme", [":root {", ':root[data-scheme="dark"] {'])
@pytest.mark.parametrize("heat", ["heat-low", "heat-high"])
def test_ink_is_legible_on_the_cells_of_a_matrix(whole, scheme, heat):
    of_scheme = whole.html.split(scheme)[1].split("}")[0]
    colours = dict(re.findall(r"--([a-z-]+): (#[0-9a-f]{6});", of_scheme))
    dark, light = sorted((luminance(colours["ink"]), luminance(colours[heat])))
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def luminance(colour):
    """As WCAG has it."""
    parts = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in rgb(colour)]
    return float(np.dot(parts, (0.2126, 0.7152, 0.0722)))


# -- in a browser ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def browser():
    with running_browser() as browser:
        yield browser


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """The report with everything in it, open in a light room."""
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_bytes(made("full").html.encode())
    with Page(browser, path) as page:
        yield page
        assert page.messages == [] and page.requests == []


@pytest.fixture
def light(page):
    """The same, and left as it was found."""
    assert page.ask("document.documentElement.dataset.scheme") == "light"
    yield page
    page.page.emulate_media(color_scheme="light")
    page.ask("() => { chosen = null; show(); }")


@pytest.mark.parametrize(
    "name",
    ["of 26 classes", "of 40 classes with long names", "of 300 classes", "hostile"],
)
def test_a_report_opens_quietly_and_fits_on_any_screen(browser, tmp_path, name):
    path = tmp_path / "report.html"
    path.write_bytes(made(name).html.encode())
    with Page(browser, path, width=1400) as page:
        drawn = page.ask("[...document.querySelectorAll('.js-plotly-plot')].map((c) => c.id)")
        assert drawn == [f"chart-{chart}" for chart in made(name).seen.figures]
        assert page.ask(OVERFLOWING) == []
        if name == "hostile":
            names_are_text_in_charts_too(page, sorted(HOSTILE))
        page.page.set_viewport_size({"width": 400, "height": 900})
        assert eventually(page, lambda: page.ask("document.body.clientWidth") == 400)
        assert eventually(page, lambda: page.ask(OVERFLOWING) == []), page.ask(OVERFLOWING)
        assert page.messages == [] and page.requests == []


TALL = """() => [...document.querySelectorAll(".table tbody tr")]
    .map((row) => [row.getBoundingClientRect().height, row.textContent])
    .filter(([height]) => height > 130)"""

# Numbers that a line break cuts in two.
BROKEN = """() => [...document.querySelectorAll(".table tbody th, .table tbody td")]
    .filter((cell) => cell.getClientRects().length && /^[\\d,.%]+$/.test(cell.textContent))
    .filter((cell) => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length > 1;
    })
    .map((cell) => cell.textContent)"""

CUT = """() => [...document.querySelectorAll("caption")]
    .filter((caption) => caption.getClientRects().length)
    .filter((caption) => caption.getBoundingClientRect().right >
        caption.closest(".table").getBoundingClientRect().right)
    .map((caption) => caption.textContent)"""


@pytest.mark.parametrize(("width", "most"), [(1400, 10_000), (400, 15_000)])
def test_a_report_is_no_longer_than_its_readers_patience(browser, tmp_path, width, most):
    """With all there is to show: replacements are a chart, and rows stay low on a telephone."""
    path = tmp_path / "report.html"
    path.write_bytes(made("adaptive").html.encode())
    with Page(browser, path, width=width) as page:
        assert page.ask("document.documentElement.scrollHeight") < most
        page.ask("for (const each of document.querySelectorAll('details')) each.open = true")
        assert page.ask(TALL) == []
        assert page.ask(CUT) == []
        assert page.ask(BROKEN) == []
        assert page.ask(OVERFLOWING) == []
        assert page.messages == [] and page.requests == []


def names_are_text_in_charts_too(page, names):
    ticks = page.texts("#chart-confusion .yaxislayer-above text")
    assert ticks == [name if len(name) <= 20 else name[:19] + "…" for name in names]
    assert page.hover("confusion", 0, 1)[:2] == [f"truth {names[1]}", f"predicted {names[0]}"]


def test_every_text_stands_out_from_its_ground(light):
    light.ask("for (const each of document.querySelectorAll('details')) each.open = true")
    assert light.ask(FAINT) == []
    light.page.emulate_media(color_scheme="dark")
    assert eventually(light, lambda: light.ask("document.documentElement.dataset.scheme") == "dark")
    assert eventually(light, lambda: light.ask(FAINT) == []), light.ask(FAINT)


def test_the_button_and_the_system_choose_the_scheme(light):
    page = light

    def colours():
        """The ground and the ink of the page; the ink of an axis and of a legend; a bar."""
        return (
            page.colour("body", "backgroundColor"),
            page.colour("h1"),
            page.colour("#chart-accuracy .xtick text", "fill"),
            page.colour("#chart-shares .legendtext", "fill"),
            page.colour("#chart-importances .bars path", "fill"),
        )

    ink, pale = "rgb(29, 36, 41)", "rgb(228, 233, 236)"
    day = ("rgb(247, 248, 248)", ink, ink, ink, "rgb(11, 106, 140)")
    night = ("rgb(18, 23, 27)", pale, pale, pale, "rgb(95, 184, 218)")
    assert colours() == day
    page.page.emulate_media(color_scheme="dark")
    assert eventually(page, lambda: colours() == night), colours()
    page.page.click("button")
    assert eventually(page, lambda: colours() == day), colours()
    page.page.emulate_media(color_scheme="light")
    page.page.click("button")
    assert eventually(page, lambda: colours() == night), colours()
    page.page.emulate_media(color_scheme="dark")
    page.page.emulate_media(color_scheme="light")  # what was chosen stays
    assert eventually(page, lambda: colours() == night), colours()


def test_paper_is_white_and_narrow(light):
    light.page.emulate_media(color_scheme="dark")

    def state():
        return light.ask(
            "[document.documentElement.dataset.scheme, "
            "...new Set([...document.querySelectorAll('.main-svg')].map((s) => s.clientWidth))]"
        )

    assert eventually(light, lambda: state()[0] == "dark")
    light.ask("dispatchEvent(new Event('beforeprint'))")
    assert eventually(light, lambda: state() == ["light", 640]), state()
    light.ask("dispatchEvent(new Event('afterprint'))")
    assert eventually(light, lambda: state()[0] == "dark" and max(state()[1:]) > 1000), state()


def test_the_cells_of_a_small_matrix_say_counts_and_shares(page, whole):
    cells = page.texts("#chart-confusion .heatmap-label text")
    assert sorted(cells) == sorted(
        count(n) + percent(n / row.sum())
        for row in whole.report.scores.confusion
        for n in row.tolist()
    )


def test_pointing_at_the_stream_shows_its_values(page, whole):
    matrix = whole.report.scores.confusion
    for point in whole.report.curve[5:25:9]:
        assert page.hover("accuracy", point.row, point.accuracy) == [
            count(point.row),
            f"last window : {point.window_accuracy:.2%}",
            f"all rows so far : {point.accuracy:.2%}",
            f"always the most frequent class : {matrix.sum(axis=1).max() / matrix.sum():.2%}",
        ]
        assert page.hover("leaves", point.row, point.leaves) == [
            count(point.row),
            f"leaves : {count(point.leaves)}",
            f"of them active : {count(point.active)}",
        ]
        assert page.hover("memory", point.row, point.memory) == [
            count(point.row),
            f"memory : {size(point.memory)}",
        ]


def test_pointing_at_the_answers_shows_their_values(page, whole):
    scores, matrix = whole.report.scores, whole.report.scores.confusion
    n = int(matrix[0, 1])
    assert page.hover("confusion", 1, 0) == [
        f"truth {scores.classes[0]}",
        f"predicted {scores.classes[1]}",
        f"{count(n)} rows, {percent(n / matrix[0].sum())} of the truth",
    ]
    some = scores.calibration[-2]
    confidence, rows = f"confidence {some.confidence:.1%}", f"{count(some.count)} rows"
    assert page.hover("calibration", some.confidence, some.accuracy) == [
        confidence,
        f"right {some.accuracy:.1%}",
        rows,
    ]
    below = page.hover("calibration", some.confidence, some.count / 2, "yaxis2")
    assert below == [confidence, rows]
    first = int(matrix.sum(axis=1)[0])
    assert page.hover("shares", first / scores.rows / 2, -0.15) == [
        str(scores.classes[0]),
        f"truth {first / scores.rows:.2%}, {count(first)} rows",
    ]


def test_pointing_at_features_and_trees_shows_their_values(page, whole):
    importances = whole.report.forest.feature_importances_
    best = int(importances.argmax())
    assert page.hover("importances", importances[best] / 2, 0) == [
        f"x[{best}]",
        f"{importances[best]:.2%}",
    ]
    leaves = count_leaves(whole.report.forest)
    depth, size = int(leaves.by_depth.argmax()), int(leaves.by_size.argmax())
    assert page.hover("depths", depth, leaves.by_depth[depth] / 2) == [
        f"depth {depth}",
        f"{count(int(leaves.by_depth[depth]))} leaves",
    ]
    assert page.hover("sizes", size, leaves.by_size[size] / 2) == [
        f"estimation points {size_label(size)}",
        f"{count(int(leaves.by_size[size]))} leaves",
    ]


def eventually(page, holds, seconds=10):
    """Charts are drawn again some time after the event that causes it."""
    for _ in range(int(seconds / 0.1)):
        if holds():
            return True
        page.page.wait_for_timeout(100)
    return bool(holds())
