"""`within=`: the smallest price that keeps an answer within a stated error."""
