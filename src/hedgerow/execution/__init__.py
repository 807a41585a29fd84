"""One statement, from a plan to an answer: the request, the price, the charge, the release, the answer."""
