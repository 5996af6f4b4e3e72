"""The service over HTTP.

app.py      the routes
guard.py    access: tokens, hosts, origins
body.py     bodies, within their limits
v1.py       predict, label, learn, model, snapshot
bulk.py     the same for streams of JSON lines
arrow.py    the same for Arrow
v2.py       the Open Inference Protocol
tensors.py  its tensors
view.py     the protocol of a view: what HTTP shows of the target
classes.py, numbers.py  the views of classes and of numbers
metrics.py  numbers for Prometheus
live.py     the numbers of the live page, once per second
live_page.py, live_charts.py  the page and its charts
openapi.py  the description of all requests
run.py      the server
connections.py  limits of a connection
"""
