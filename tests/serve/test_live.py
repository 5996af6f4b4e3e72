"""The live page in Chromium: start, send, watch the numbers change, kill, restart, still there."""

from __future__ import annotations

import random

from riparian import AdaptiveForestClassifier
from riparian.serve.options import ServiceOptions

from report_browser import FAINT, OVERFLOWING, chromium, running_browser
from serve_process import Process
from serve_running import running

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


def test_a_forest_that_replaces_no_trees_has_no_such_chart(tmp_path):
    with running(tmp_path) as served:
        served.post("/v1/learn", list(changing(20)))
        served.settle()
        assert "Trees replaced" not in served.web.get("/").text
        assert "riparian_drifts_total" not in served.web.get("/metrics").text


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
            send(first, 600)
            until(page, "document.getElementById('now-points').textContent === '600'")
            until(page, "charts[0].figure.data[0].x.length > 5")
            assert page.evaluate(NOW, "recent").endswith(" %")
            assert page.evaluate(FAINT) == []
            assert page.evaluate(OVERFLOWING) == []
            assert messages == []
            port = first.address.rpartition(":")[2]
            first.kill()
            until(page, "document.getElementById('state').textContent !== 'Live.'")
        with Process(tmp_path, "--new", "--trees", "3", "--port", port) as second:
            until(page, "document.getElementById('state').textContent === 'Live.'")
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


def opened(browser, address, scheme):
    page = browser.new_page(viewport={"width": 1200, "height": 900}, color_scheme=scheme)
    messages = []
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
