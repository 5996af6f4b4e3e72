"""Snapshots: a forest as bytes, and back, with all checks that keep the core safe.

    errors.py       the error, with its cases
    container.py    a text and arrays in a safetensors file, with a checksum
    header.py       everything but the arrays, as JSON
    fields.py       fields of the header, each checked
    values.py       numbers, texts, schedules, weights by label
    labels.py       labels, and weights of classes
    arrays.py       the arrays of all trees, and their lengths
    kept.py         the kept points
    categories.py   the tables of categories
    check.py        whether the arrays are safe for the core: links, indices, sums
    candidates.py   the same for the counts of active leaves
    size.py         how much memory the forest will take
    state.py        all of these steps in order
    memory.py       returns memory to the system afterwards

docs/snapshot-format.md describes the format.
"""
