"""Where rows come from: one file a format, each of them read piece by piece.

source.py       what a source is: fields, and batches of rows
raw.py          bytes of a file or a pipe, unpacked, and cut into blocks of whole lines
csv.py          CSV and TSV
jsonlines.py    an object a line
libsvm.py       label index:value ...
arff.py         Weka's format
parquet.py      Parquet
arrow.py        Arrow IPC, files and streams
stream.py       several of them, one after the other, as one stream
"""
