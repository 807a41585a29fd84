"""The quick depth reads both databases under one nonce: nobody but the newcomer may choose other groups."""

import re

from hedgerow.audit.repetition import _KeptSnapshot

NONCE = re.compile(r"md5\('([0-9a-f]{32})'")


def test_people_of_many_groups_choose_alike_on_both_databases(audited, monkeypatch):
    seen, run = [], _KeptSnapshot.run

    def listened(self, query):
        seen.extend(NONCE.findall(query.sql))
        return run(self, query)

    monkeypatch.setattr(_KeptSnapshot, "run", listened)
    audited("SELECT city, COUNT(*) FROM orders GROUP BY city", epsilon=2, runs=24, only=["many groups"])
    assert len(seen) >= 48
    assert len(set(seen)) == 1
