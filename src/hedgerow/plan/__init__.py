"""What is asked: names resolved, the unit followed, everything outside the subset refused."""
