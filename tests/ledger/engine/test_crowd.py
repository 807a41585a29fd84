"""Several processes and threads ask through the whole engine, and one file is copied meanwhile."""

import json
import shutil

from hedgerow.errors import LedgerError
from hedgerow.ledger import Units, caps_for

COPIES = 25


def test_two_processes_with_several_threads_never_overspend(town):
    town.write(budget="{epsilon: 1, delta: 1e-6}")
    town.look()
    running = [town.start("crowd") for _ in range(2)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    for process in running:
        process.stdin.write("go\n")
        process.stdin.flush()
    reports = [json.loads(process.communicate(timeout=60)[0]) for process in running]
    assert [report["errors"] for report in reports] == [[], []]

    book = town.look()
    answers = [identity for report in reports for identity in report["answers"]]
    entries = [json.loads(line) for line in book.export()]
    charged = [entry for entry in entries if entry["kind"] == "charged"]
    assert sorted(answers) == sorted(f"{book.id}-{entry['sequence']}" for entry in charged)
    assert book.verify().charges == len(answers)

    caps = caps_for(1.0, 1e-6)
    amounts = [Units.from_dict(entry["body"]["units"]) for entry in charged]
    spent = sum(amounts, Units())
    assert Units.from_dict(entries[-1]["total"]["lifetime"]) == spent
    assert caps.overrun(spent) is None
    assert caps.overrun(spent + amounts[0]) == "gaussian"


def test_a_copy_made_while_another_process_asks_never_shows_less_than_was_released(town):
    town.write(budget="{epsilon: 200, delta: 1e-6}")
    process = town.start("asking")
    released, whole = [process.stdout.readline().strip()], 0
    for number in range(COPIES):
        released.append(process.stdout.readline().strip())
        before = set(released)
        copy = town.folder / f"copy{number}.ledger"
        shutil.copyfile(town.ledger, copy)
        whole += shows_all(town, copy, before)
    process.communicate(timeout=30)
    assert process.returncode == 0
    assert whole > COPIES // 4, f"only {whole} of {COPIES} copies could be opened"


def shows_all(town, copy, before):
    """True if the copy could be opened; a copy that was torn while it was written must say so."""
    try:
        with town.look(copy) as book:
            shown = {f"{book.id}-{entry.sequence}" for entry in book.history()}
            book.verify()
    except LedgerError:
        return False
    assert before <= shown
    return True
