"""`riparian serve`: predict now, learn when the label comes, lose nothing.

state/      what is kept: the log, the snapshot, and the two threads that write and learn
http/       what is said: requests and answers, metrics, the live page
options.py  what a service is started with
service.py  a service: its state, and what it does with a request
together.py predictions that come at the same time, made in one call

Nothing here is imported with `riparian`.
"""
