"""What a study is, and how it is run: its cells side by side, each kept as soon as it is done."""
