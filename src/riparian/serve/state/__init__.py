"""The state of a service, and the threads that write it.

catalogue.py  the features and labels that there are, and which may join
target.py     the protocol of a target: its labels, and what the model answers
classes.py, numbers.py  the targets
model.py      the forest, with names for its columns
scores.py     the scores of the predictions in the log
log.py        the log on disk
changes.py    the reads and writes of one transaction, in a few statements
wal.py        whether a damaged WAL lost what was acknowledged
checkpoints.py  one thread that moves pages out of the WAL, so that no commit waits for that
ids.py        the life of an id: predicted, labelled, learned once
writer.py     one thread that stores, many requests per fsync
learner.py    one thread that learns what is stored, in its order, and takes snapshots
backlog.py    the number of rows that are accepted and not yet done
folder.py     the folder: snapshot + log = model; one process uses it
"""
