"""`riparian serve`: predict now, learn when the label arrives, lose nothing.

state/      the log, the model, and the threads that write and learn
http/       requests and answers, metrics, the live page
options.py  the options of a service
validation.py  the input validation of requests
service.py  a service: its state, and what it does with a request
together.py one call for predictions that arrive at the same time

`import riparian` imports nothing of this package.
"""
