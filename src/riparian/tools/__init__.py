"""Small tools that several packages use.

files.py       writing a file whole or not at all
optional.py    libraries that only some users need
shapes.py      what a JSON value must look like
text.py        numbers and names as people write them
"""
