"""Sources of rows: one file per format, each read in blocks.

errors.py       bad usage and bad data, with the place in the file
source.py       what a source is: fields, and batches of rows
raw.py          bytes of a file or a pipe, decompressed, in blocks of whole lines
csv.py          CSV and TSV
jsonlines.py    one object per line
libsvm.py       label index:value ...
arff.py         Weka's format
parquet.py      Parquet
arrow.py        Arrow IPC, files and streams
formats.py      the format of a file
opening.py      open a path as a source
stream.py       several sources as one stream
"""
