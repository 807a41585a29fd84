"""Faults in the order of things: what is charged, when, and what is read for it."""

from scripts.mutation.fault import Fault

RECEIPTS = "release/test_receipts.py"
FACTS = "privacy/neighbours/test_facts.py"
ENGINE_FACTS = "backends/test_facts.py"
OWNER_COLUMNS = "execution/test_owner_columns.py"

FAULTS = (
    Fault(
        "charged-after-the-release",
        "execution/session.py",
        """                receipt = self._pay(question, logical, private)
                active_cancellation().check()
                exact = first_pass(steps, private, receipt, snapshot)
                drawing = True
                noisy = release(exact, steps, private, receipt, snapshot)
""",
        """                receipt = Receipt("", 0, private.charge, 0.0, self.ledger.budget(self.analyst).remaining)
                active_cancellation().check()
                exact = first_pass(steps, private, receipt, snapshot)
                drawing = True
                noisy = release(exact, steps, private, receipt, snapshot)
                receipt = self._pay(question, logical, private)
""",
        ("session/test_connection.py", "ledger/engine/test_durable.py"),
    ),
    Fault(
        "budget-for-laplace-noise-not-checked",
        "execution/session.py",
        "        require_laplace_budget(private, remaining)\n        steps",
        "        steps",
        (RECEIPTS,),
    ),
    Fault(
        "same-choice-of-keys-for-every-statement",
        "execution/run.py",
        "return [_under(nonce(), compiled)",
        'return [_under("0" * 32, compiled)',
        (RECEIPTS,),
    ),
    Fault(
        "owners-one-row-beyond-the-limit-taken-for-light",
        "compile/facts.py",
        'beyond = f"{dialect.count()} > {maximum}"',
        'beyond = f"{dialect.count()} > {maximum + 1}"',
        (FACTS,),
    ),
    Fault(
        "owners-in-too-many-groups-taken-for-light",
        "compile/facts.py",
        "{dialect.count()} > {bounding.groups} OR",
        "{dialect.count()} > {bounding.groups + 1} OR",
        (FACTS,),
    ),
    Fault(
        "people-of-two-blocks-counted-as-one",
        "dialects/base.py",
        "AS {self.whole}) >> 16)",
        "AS {self.whole}) >> 17)",
        (FACTS,),
    ),
    Fault(
        "rows-without-an-owner-counted",
        "compile/paths.py",
        'conditions = [f"{counts[0]} <> {counts[1]}"]',
        'conditions = [f"{counts[0]} < {counts[1]}"]',
        (FACTS,),
    ),
    Fault(
        "owners-of-other-rows",
        "compile/paths.py",
        "{' AND '.join(same)}",
        "{' AND '.join(same)} OR TRUE",
        (OWNER_COLUMNS,),
    ),
    Fault(
        "one-owner-of-a-row-that-has-two",
        "backends/facts.py",
        "table if table.num_rows == rows else None",
        "table",
        (OWNER_COLUMNS,),
    ),
    Fault(
        "facts-of-rows-that-changed",
        "execution/run.py",
        "if state_of(shortcut.tables) == state:",
        "if state is not None:",
        ("execution/test_facts.py",),
    ),
    Fault(
        "facts-of-a-file-whose-log-has-more",
        "backends/sqlite/backend.py",
        "return None if log.exists() and log.stat().st_size else file_state",
        "return file_state",
        (ENGINE_FACTS,),
    ),
    Fault(
        "facts-of-other-parts",
        "backends/clickhouse/backend.py",
        'more = "" if state is None else self._settings[state]',
        'more = ""',
        (ENGINE_FACTS,),
    ),
    Fault(
        "facts-of-a-table-that-was-emptied",
        "backends/postgres/held.py",
        "(token, *files)",
        "(token,)",
        (ENGINE_FACTS,),
    ),
    Fault(
        "owners-that-could-not-be-read-taken-for-light",
        "backends/facts.py",
        "return bool(owners.null_count == 0)",
        "return True",
        (ENGINE_FACTS,),
    ),
    Fault(
        "a-receipt-for-something-else",
        "execution/run.py",
        "if receipt.charge != statement.charge:",
        "if receipt is None:",
        (RECEIPTS,),
    ),
    Fault(
        "a-changed-table-read-all-the-same",
        "execution/run.py",
        "if backend.handed_in",
        "if not backend.handed_in",
        ("session/test_connection.py",),
    ),
    Fault(
        "a-smaller-minimum-allowed",
        "execution/request.py",
        "if value < owners:",
        "if value < 0:",
        ("session/test_request.py",),
    ),
    Fault(
        "cap-of-one-statement-ignored",
        "execution/request.py",
        "if cap is not None and epsilon > cap.epsilon:",
        "if cap is None and epsilon > 1e9:",
        ("session/test_request.py",),
    ),
)
