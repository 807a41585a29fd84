"""The program as a process: pipes, terminals, logs."""

import json
import os
import subprocess
import sys

import pytest

HEDGEROW = [sys.executable, "-m", "hedgerow"]


def start(*words, **more):
    return subprocess.run(  # noqa: S603 - our own program
        [*HEDGEROW, *map(str, words)], capture_output=True, text=True, check=False, timeout=60, **more
    )


def test_a_question_in_a_pipe_is_answered_in_json(shop):
    result = start("query", "-", *shop.options, "--json", input="SELECT COUNT(*) AS n FROM customers")
    assert result.returncode == 0
    assert json.loads(result.stdout)["columns"] == ["n"]
    assert "Made a new ledger" in result.stderr


def test_heavy_modules_wait_until_they_are_needed():
    heavy = "{'opendp', 'pandas', 'polars', 'scipy.stats', 'dp_accounting', 'altair', 'psycopg', 'ibis'}"
    code = f"import sys, hedgerow.cli; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own text


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
def test_on_a_terminal_init_asks_for_people_and_questions(shop):
    import pty  # noqa: PLC0415 - not on every system

    shop.catalog.unlink()
    ours, theirs = pty.openpty()
    with subprocess.Popen(  # noqa: S603 - our own program
        [*HEDGEROW, "init", str(shop.database)], stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs
    ) as process:
        os.close(theirs)
        seen = b""
        for question, answer in (
            (b"Person [", b"none"),
            (b"Person [", b""),
            (b"Person [", b"customers"),
            (b"Person [", b"1"),
            (b"Rows [", b"7"),
            (b"Questions [", b"hand"),
        ):
            while question not in seen:
                seen += os.read(ours, 4096)
            seen = seen.partition(question)[2]
            os.write(ours, answer + b"\n")
        assert process.wait(60) == 0
    os.close(ours)
    text = shop.catalog.read_text()
    assert "pure_epsilon: 1.0" in text
    assert "max_rows: 7" in text
    assert "public: true" in text


@pytest.mark.skipif(os.name == "nt", reason="needs a shell")
def test_a_reader_that_stops_early_is_no_failure_of_ours(shop):
    words = ["query", "SELECT COUNT(*) AS n FROM customers", *shop.options]
    with subprocess.Popen([*HEDGEROW, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:  # noqa: S603 - likewise
        process.stdout.close()
        complaints = process.stderr.read()
        assert process.wait(60) == 1
    assert "Traceback" not in complaints
    assert "BrokenPipe" not in complaints
