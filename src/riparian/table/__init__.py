"""Turn the columns of a table into rows of features and labels. Without pyarrow:

cells.py      the values of a column, in whatever form they came
frames.py     a column of a frame as cells
encoders.py   a column as numbers or categories
times.py      a column of dates or times as numbers
raw.py        the columns of a table, as a model carries them: one path for every way in

For files, with pyarrow:

arrow.py      a column of Arrow as cells
target.py     the column of the labels
columns.py    what all plans of columns have in common
table.py      columns with names
sparse.py     columns of LIBSVM, which have numbers instead of names
deciding.py   decide what each column is, by its type and its first rows
saved.py      the columns that a model file describes
"""
