"""`python -m riparian`: the same as `riparian`."""

from riparian.cli import main

if __name__ == "__main__":
    main()
