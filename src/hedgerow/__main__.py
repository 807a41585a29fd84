"""`python -m hedgerow` is `hedgerow`."""

from hedgerow.cli import main

if __name__ == "__main__":
    main()
