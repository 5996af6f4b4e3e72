"""Turn the columns of a source into points and labels.

target.py     the column of the labels
encoders.py   a column as numbers or categories
times.py      a column of dates or times as numbers
columns.py    what all plans of columns have in common
table.py      columns with names
sparse.py     columns of LIBSVM, which have numbers instead of names
deciding.py   decide what each column is, by its type and its first rows
saved.py      the columns that a model file describes
"""
