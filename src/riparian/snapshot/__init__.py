"""Snapshots: a forest as a file that can be trusted to be one, and back.

    errors.py       what can be wrong
    container.py    a text and arrays in a safetensors file, with a checksum
    header.py       what it says besides its arrays, as JSON
    fields.py       fields of that, each checked
    values.py       numbers, texts, schedules, weights by label
    labels.py       labels, and weights of classes
    arrays.py       the arrays of the trees end to end, and their lengths
    kept.py         the points that it keeps
    check.py        whether the core can be handed the arrays: links, indices, sums
    candidates.py   the same of what active leaves have counted
    size.py         how much memory it will take
    state.py        all of this in order
    memory.py       what it takes goes back to the system
    save.py         from an estimator to bytes
    load.py         from a file or bytes to an estimator
    extra.py        what a program keeps with a forest

The format is described in docs/snapshot-format.md.
"""
