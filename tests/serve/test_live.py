"""The live page in Chromium: start, send, watch the numbers change, kill, restart, still there."""

from __future__ import annotations

import random
from functools import partial

from riparian import AdaptiveForestClassifier, OnlineForestClassifier
from riparian.evaluation import Scores
from riparian.serve.http.classes import ClassView
from riparian.serve.http.live import bad
from riparian.serve.http.numbers import NumberView
from riparian.serve.options import ServiceOptions

from report_browser import FAINT, OVERFLOWING, chromium, running_browser
from serve_process import Process
from serve_running import running

FAINT_STATE = FAINT.replace("body *", "#state")  # charts are pale on purpose then
NOW = "(name) => document.getElementById('now-' + name).textContent"


def test_the_page_needs_no_network_and_may_only_ask_the_service(tmp_path):
    with running(tmp_path) as served:
        page = served.web.get("/")
        assert "connect-src 'self'" in page.text
        assert "script-src 'unsafe-inline'" in page.text
        assert served.web.get("/docs").status_code == 200


def test_the_page_says_what_a_crash_may_forget(tmp_path):
    with running(tmp_path, options=ServiceOptions(lazy=True)) as served:
        assert "A crash may forget" in served.web.get("/").text
    with running(tmp_path) as served:
        assert "A crash may forget" not in served.web.get("/").text


def test_names_from_outside_reach_the_page_as_text(tmp_path):
    with running(tmp_path) as served:
        row = {"features": {"<b>a</b>": 1}, "label": "<script>alert(1)</script>"}
        served.post("/v1/learn", [row] * 3)
        served.settle()
        charts = served.web.get("/v1/status").json()["charts"]
        assert charts["mix"]["yaxis"]["ticktext"] == ["&lt;script&gt;alert(1)&lt;/s…"]
        assert charts["importances"]["yaxis"]["ticktext"] == ["&lt;b&gt;a&lt;/b&gt;"]


def changing(n=1200):
    """Lessons whose classes change places halfway."""
    draw = random.Random(0)
    for i in range(n):
        a = draw.random()
        yield {"features": {"a": a, "b": draw.random()}, "label": int((a > 0.5) ^ (i >= n // 2))}


def test_replaced_trees_are_counted_and_drawn_and_survive_a_restart(tmp_path):
    with running(tmp_path, forest=AdaptiveForestClassifier) as served:
        assert "Trees replaced" in served.web.get("/").text
        assert served.web.get("/v1/status").json()["charts"]["drifts"]["data"][0]["y"] == [0, 0]
        served.post("/v1/learn", list(changing()))
        served.settle()
        replaced = served.service.model.forest.replacements_
        assert replaced and all(point > 600 for point, _ in replaced)
        reported = served.web.get("/v1/status").json()
        assert reported["figures"]["drifts"] == len(replaced)
        (line,) = reported["charts"]["drifts"]["data"]
        assert line["y"][-1] == len(replaced) and line["x"][-1] == 1200
        assert f"riparian_drifts_total {len(replaced)}.0" in served.web.get("/metrics").text
    with running(tmp_path, forest=AdaptiveForestClassifier) as again:
        again.settle()
        assert type(again.service.model.forest) is AdaptiveForestClassifier
        assert again.service.model.forest.replacements_ == replaced


def test_scores_of_the_log_are_metrics_and_are_those_of_the_answers(tmp_path):
    """Three classes: the log keeps the probability of each, and a restart changes nothing."""
    draw = random.Random(1)
    rows = [
        {"features": {"a": (a := draw.random())}, "label": "abc"[int(a * 2.9 + draw.random() / 9)]}
        for _ in range(300)
    ]
    with running(tmp_path) as served:
        expected = Scores()
        for i, row in enumerate(rows):
            answer = served.post("/v1/predict", {"id": str(i), "features": row["features"]}).json()
            if answer["label"] is not None:
                shares = answer["probabilities"]
                expected.update([row["label"]], [list(shares.values())], list(shares))
            served.post("/v1/label", {"id": str(i), "label": row["label"]})
            served.settle()
        numbers = served.web.get("/v1/status").json()["figures"]
        text = served.web.get("/metrics").text
        for name in ("auc", "average_precision", "log_loss", "brier", "balanced_accuracy"):
            assert numbers[name] == getattr(expected, name)
            assert f"riparian_{name} {getattr(expected, name)}" in text
    with running(tmp_path) as again:
        again.settle()
        assert again.service.scores.scores.state() == expected.state()


def test_a_forest_that_replaces_no_trees_has_no_such_chart(tmp_path):
    with running(tmp_path) as served:
        served.post("/v1/learn", list(changing(20)))
        served.settle()
        assert "Trees replaced" not in served.web.get("/").text
        assert "riparian_drifts_total" not in served.web.get("/metrics").text


EMPTY = "[...document.querySelectorAll('.chart.empty')].map((place) => place.id)"


def send(process, n, seed=0):
    draw = random.Random(seed)
    with process.client() as client:
        points = [{"a": draw.random(), "b": draw.random()} for _ in range(n)]
        for first in range(0, n, 100):
            some = points[first : first + 100]
            ids = [answer["id"] for answer in client.predict_many(some)]
            labels = ["high" if p["a"] > 0.5 else "low" for p in some]
            client.label_many(dict(zip(ids, labels, strict=True)))


def test_numbers_change_while_a_page_is_open_and_survive_a_crash(tmp_path):
    chromium()
    with running_browser() as browser:
        with Process(tmp_path, "--new", "--trees", "3") as first:
            page, messages = opened(browser, first.address, "light")
            until(page, "document.getElementById('state').textContent === 'Live.'")
            assert page.evaluate(NOW, "points") == "0"
            until(page, EMPTY + ".includes('chart-accuracy')")  # no axes around no value
            assert {"chart-mix", "chart-calibration", "chart-delay"} <= {*page.evaluate(EMPTY)}
            send(first, 600)
            until(page, "document.getElementById('now-points').textContent === '600'")
            until(page, "charts[0].figure.data[0].x.length > 5")
            # Times are those of predictions that are asked for one by one.
            assert {*page.evaluate(EMPTY)} <= {"chart-latency"}
            assert page.evaluate(NOW, "recent").endswith(" %")
            assert page.evaluate(FAINT) == []
            assert page.evaluate(OVERFLOWING) == []
            assert messages == []
            port = first.address.rpartition(":")[2]
            assert not page.title().startswith("⚠")
            first.kill()
            # A dead service looks dead: a banner says so, and numbers are struck through.
            until(page, "document.getElementById('state').dataset.state === 'gone'")
            assert "Everything below is from " in page.text_content("#state")
            assert page.title().startswith("⚠")
            struck = "getComputedStyle(document.getElementById('now-points')).textDecorationLine"
            assert page.evaluate(struck) == "line-through"
            assert page.evaluate(FAINT_STATE) == []
        with Process(tmp_path, "--new", "--trees", "3", "--port", port) as second:
            until(page, "document.getElementById('state').textContent === 'Live.'")
            assert page.evaluate(struck) == "none" and not page.title().startswith("⚠")
            send(second, 100, seed=1)  # the open page goes on by itself
            until(page, "document.getElementById('now-points').textContent === '700'")
            recent = page.evaluate(NOW, "recent")
            page.close()
            page, _ = opened(browser, second.address, "dark")
            until(page, "document.getElementById('now-points').textContent === '700'")
            assert page.evaluate(NOW, "recent") == recent
            assert page.evaluate(FAINT) == []
            page.close()
            assert second.stop() == 0


def test_the_page_of_a_service_for_numbers_draws_errors_and_predictions(tmp_path):
    chromium()
    numbers = ("--new", "--task", "numbers", "--trees", "3")
    with running_browser() as browser, Process(tmp_path, *numbers) as service:
        page, messages = opened(browser, service.address, "dark")
        page.set_viewport_size({"width": 400, "height": 900})
        until(page, "document.getElementById('state').textContent === 'Live.'")
        assert page.evaluate(NOW, "rmse") == "–"
        draw = random.Random(0)
        rows = [({"a": (a := draw.random())}, 1e-4 * a - 1) for _ in range(400)]
        with service.client() as client:
            client.learn_many(rows)
            until(page, "document.getElementById('now-points').textContent === '400'")
            for a, label in rows[:60]:
                answer = client.predict(a)
                assert abs(answer["label"] - label) < 1e-4
                assert client.label(answer["id"], label)["residual"] == label - answer["label"]
        until(page, "document.getElementById('now-scored').textContent === '60'")
        assert "e-" in page.evaluate(NOW, "rmse")  # it is small
        until(
            page,
            "charts.find(c => c.place.id === 'chart-truth').figure.data[1].x.length === 60",
        )
        named = (
            "charts.find(c => c.place.id === 'chart-ranges').figure.layout.xaxis.ticktext.length"
        )
        assert page.evaluate(named) > 1
        assert page.query_selector("#chart-mix") is None
        assert page.evaluate(FAINT) == []
        assert page.evaluate(OVERFLOWING) == []
        assert messages == []
        assert service.stop() == 0


def test_every_route_can_be_tried_out(tmp_path):
    chromium()
    with running_browser() as browser, Process(tmp_path, "--new", "--trees", "3") as service:
        page, messages = opened(browser, service.address + "/docs", "dark")
        page.set_viewport_size({"width": 400, "height": 900})
        for path, status in (("/v1/learn", "200"), ("/v1/predict", "200"), ("/v1/label", "422")):
            place = f".try[data-path='{path}']"
            if path == "/v1/label":
                page.fill(f"{place} textarea", '{"id": "first", "label": [1]}')
            page.click(f"{place} button")
            shown = f'document.querySelector("{place} pre")?.textContent.slice(0, 3)'
            until(page, f"/[0-9]{{3}}/.test({shown})")
            assert page.evaluate(shown) == status
        page.click(".try[data-path='/v1/status'] button")
        until(page, "document.body.textContent.includes('predictions_rate')")
        assert page.evaluate(FAINT) == []
        assert page.evaluate(OVERFLOWING.replace(".scroll > *", "pre")) == []
        assert [text for text in messages if "422" not in text] == []
        assert page.title() == "riparian serve"
        assert service.stop() == 0


def test_an_eager_forest_shows_which_cells_it_trusts(tmp_path):
    forest = partial(OnlineForestClassifier, eager=True)
    with running(tmp_path, forest=forest) as served:
        assert "Where the answers come from" not in served.web.get("/").text  # none is known yet
        served.post("/v1/learn", list(changing(300)))
        served.settle()
        assert "Where the answers come from" in served.web.get("/").text
        bands = served.web.get("/v1/status").json()["charts"]["trust"]["data"]
        trust = served.service.model.forest.trust_
        assert [band["y"][-1] for band in bands] == [*trust.values()]
        assert bands[0]["x"][-1] == 300
    honest = partial(OnlineForestClassifier, eager=False)
    with running(tmp_path / "other", forest=honest) as served:
        served.post("/v1/learn", list(changing(300)))
        served.settle()
        assert "Where the answers come from" not in served.web.get("/").text


def test_numbers_that_need_attention_are_named(tmp_path):
    view = ClassView()
    calm = {"recent": 0.9, "always": 0.8, "set_aside": 0, "expired": 0}
    assert bad(view, calm) == []
    assert bad(view, calm | {"recent": 0.7, "set_aside": 2}) == ["recent", "set_aside"]
    assert bad(view, calm | {"recent": None, "always": None, "expired": 1}) == ["expired"]


def test_numbers_that_are_worse_than_their_mean_need_attention():
    kept = {"set_aside": 0, "expired": 0}
    assert bad(NumberView(), kept | {"recent_r2": 0.2}) == []
    assert bad(NumberView(), kept | {"recent_r2": -0.2}) == ["recent_r2"]
    assert bad(NumberView(), kept | {"recent_r2": None}) == []


def opened(browser, address, scheme):
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("pageerror", lambda error: messages.append(str(error)))
    page.on("dialog", lambda dialog: (messages.append("dialog"), dialog.dismiss()))
    page.goto(address)
    return page, messages


def until(page, condition):
    """Wait for it. The page forbids `eval`, with which playwright would wait by itself."""
    for _ in range(300):
        if page.evaluate(condition):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"not within 30 seconds: {condition}")
