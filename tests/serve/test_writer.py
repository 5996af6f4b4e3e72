"""Requests that share a transaction."""

from __future__ import annotations

import threading

from riparian.serve.state.ids import Ids

from serve_running import running

ROW = {"features": {"a": 1.0}, "label": "x"}


def test_a_request_that_fails_fails_alone_in_its_transaction(tmp_path, monkeypatch, capsys):
    teach = Ids.teach

    def fails(ids, item, now, staged):
        if item.label == "bad":
            raise OverflowError("a mistake")
        return teach(ids, item, now, staged)

    with running(tmp_path) as served:
        monkeypatch.setattr(Ids, "teach", fails)
        begun, go = threading.Event(), threading.Event()
        store = served.service.writer._store

        def slow(jobs):  # the first job holds the writer until all others wait
            begun.set()
            assert go.wait(10)
            return store(jobs)

        monkeypatch.setattr(served.service.writer, "_store", slow)
        answers = {}

        def send(number):
            label = "bad" if number % 10 == 5 else "x"
            answers[number] = served.post("/v1/learn", {**ROW, "label": label}).status_code

        threads = [threading.Thread(target=send, args=(n,)) for n in range(20)]
        for thread in threads:
            thread.start()
        assert begun.wait(10)
        while served.service.backlog.rows < 20:
            threading.Event().wait(0.01)
        go.set()
        for thread in threads:
            thread.join(10)
        assert answers == {n: 500 if n % 10 == 5 else 200 for n in range(20)}
        served.settle()
        assert served.service.model.points == 18
        assert served.service.writer.totals["failures"] == 2
