"""Small faults put into a copy of the privacy core, one at a time: do the tests notice?

`python -m scripts.mutation` from the root of the repository, or `make mutation`.
"""
