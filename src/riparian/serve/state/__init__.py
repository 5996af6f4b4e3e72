"""What a service keeps, and who writes it.

catalogue.py  the features and labels there are, and which may join
model.py      the forest, with names for its columns
dates.py      columns of dates, as the model reads them
scores.py     what the labels said about the predictions
log.py        the log on disk
wal.py        whether a damaged WAL lost what was acknowledged
checkpoints.py  one thread that moves what is in its WAL, so that no commit waits for that
ids.py        what becomes of an id: asked, labelled, taught; once
writer.py     one thread that stores, many requests per fsync
learner.py    one thread that learns what is stored, in its order, and takes snapshots
backlog.py    how much is accepted and not yet done
folder.py     the folder: snapshot + log = model; one process has it
"""
