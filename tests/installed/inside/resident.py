"""Run commands of hedgerow, each in a fork of this process, which has imported the package once.

A line of standard input is a command: its words, its folder, its environment, and the files for its two outputs. The
answer is a line with its exit code. A command sees no terminal and no input, and nothing of the commands before it.
"""

import json
import os
import sys
import traceback

import hedgerow.cli.query
import hedgerow.session.connection


def run(words: list[str], folder: str, env: dict[str, str], outputs: list[str]) -> int:
    """Run one command in a process that nothing else is run in, and return its exit code."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    for descriptor, path in enumerate([os.devnull, *outputs]):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), descriptor)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115 - as Python does
    sys.argv = words
    try:
        hedgerow.cli.main()
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 - as Python does
        traceback.print_exc()
        return 1
    return 0


for line in sys.stdin:
    child = os.fork()
    if child == 0:
        code = run(**json.loads(line))
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)  # noqa: T201 - it answers
