"""What the library costs and what it gets right, measured: see README.md."""
