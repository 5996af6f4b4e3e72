"""Where rows come from: one file per format, each read piece by piece.

errors.py       bad usage and bad data, with the place in the file
source.py       what a source is: fields, and batches of rows
raw.py          bytes of a file or a pipe, unpacked, and cut into blocks of whole lines
csv.py          CSV and TSV
jsonlines.py    one object per line
libsvm.py       label index:value ...
arff.py         Weka's format
parquet.py      Parquet
arrow.py        Arrow IPC, files and streams
formats.py      which format a file has
opening.py      from a path to a source
stream.py       several of them, one after the other, as one stream
"""
