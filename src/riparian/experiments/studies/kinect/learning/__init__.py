"""One forest of one run: its stream, its progress, how it is judged and what it costs."""
