"""What a service says over HTTP.

app.py      the routes
guard.py    who may ask what
body.py     bodies, within their limits
v1.py       predict, label, learn, model, snapshot
bulk.py     the same for streams of JSON lines
arrow.py    the same for Arrow
v2.py       the Open Inference Protocol
metrics.py  numbers for Prometheus
live.py     numbers for the live page, and the page
openapi.py  what there is, for machines and for people
run.py      the server
connections.py  how long a request head may be, and how long a connection may be silent
"""
