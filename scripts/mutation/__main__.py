"""Put small faults into a copy of the privacy core, one at a time, and run the tests that should notice.

Exit code 0: every fault was caught. 1: one survived. 2: nothing can be concluded (a fault no longer fits the source,
or the tests fail without any).
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from scripts.mutation import report
from scripts.mutation.fault import Fault, problems
from scripts.mutation.faults import CANARY, FAULTS
from scripts.mutation.trial import NoSoundGroundError, Result, try_all

ROOT = Path(__file__).resolve().parents[2]


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(prog="python -m scripts.mutation", description=__doc__)
    parser.add_argument("--only", metavar="TEXT", default="", help="faults whose name or file contains this")
    parser.add_argument("--workers", type=int, default=1, help="how many faults are tried at once")
    parser.add_argument("--thorough", action="store_true", help="try survivors against the whole quick suite")
    parser.add_argument("--no-baseline", action="store_true", help="do not run the tests without a fault first")
    parser.add_argument("--patience", type=float, default=300.0, help="seconds that one run of tests may take")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there, too")
    parser.add_argument("--list", action="store_true", help="name the faults and check that they fit the source")
    return parser.parse_args(given)


def main(given: Sequence[str] | None = None) -> int:
    """Run the command."""
    options, console = arguments(given), Console()
    chosen = [fault for fault in FAULTS if options.only in fault.name or options.only in fault.file]
    if options.list:
        for fault in chosen:
            console.print(f"{fault.file}: {fault.name}", highlight=False)
    if unfit := problems([CANARY, *chosen], ROOT):
        console.print("\n".join(unfit), style="red", highlight=False)
        return 2
    return 0 if options.list else _try(chosen, options, console)


def _try(chosen: Sequence[Fault], options: argparse.Namespace, console: Console) -> int:
    results: list[Result] = []

    def told(result: Result) -> None:
        results.append(result)
        console.print(report.line(result, len(results), len(chosen)), highlight=False, markup=False)

    try:
        ordered = try_all(
            chosen,
            ROOT,
            workers=max(1, options.workers),
            thorough=options.thorough,
            patience=options.patience,
            canary=CANARY,
            baseline=not options.no_baseline,
            told=told,
        )
    except NoSoundGroundError as error:
        console.print(str(error), style="red")
        return 2
    report.show(ordered, console)
    if options.json is not None:
        report.write(ordered, options.json)
    return 1 if report.survivors(ordered) else 0


if __name__ == "__main__":
    sys.exit(main())
