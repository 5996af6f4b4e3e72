"""What the columns of a source mean to a forest: from batches to points and labels.

target.py     the column of the labels
encoders.py   a column as numbers or categories
times.py      a column of dates or times as numbers
columns.py    what the columns of a stream mean to a forest
table.py      columns with names
sparse.py     columns of LIBSVM, which have numbers
deciding.py   what each column is, by its type and its first rows
saved.py      the columns that a model file describes
"""
