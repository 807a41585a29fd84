"""Trying faults: which are caught, and which survive."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from queue import Queue

from scripts.mutation.fault import Fault
from scripts.mutation.workshop import Run, Workshop

TESTS_FAILED, COLLECTION_FAILED = 1, 2
EVERYTHING = ("tests",)


class Verdict(StrEnum):
    """Outcome of a fault."""

    CAUGHT = "caught"
    CAUGHT_ELSEWHERE = "caught elsewhere"
    SURVIVED = "survived"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Result:
    """A fault, its verdict, what caught it (or went wrong), and how long it took."""

    fault: Fault
    verdict: Verdict
    by: str
    seconds: float


class NoSoundGroundError(Exception):
    """Without any fault the tests fail, or they do not see the copy: nothing can be concluded."""


def try_all(
    faults: Sequence[Fault],
    root: Path,
    *,
    workers: int,
    thorough: bool,
    patience: float,
    canary: Fault | None,
    baseline: bool,
    told: Callable[[Result], None],
) -> list[Result]:
    """Try every fault, in `workers` copies at once; `told` hears of each as it is done. In the order of `faults`."""
    with _workshops(root, workers, patience) as shops:
        shop = shops.get()
        _check_ground(shop, faults, canary, baseline=baseline)
        shops.put(shop)
        with ThreadPoolExecutor(workers) as pool:
            waiting = {pool.submit(_try_in, shops, fault, thorough=thorough): fault for fault in faults}
            results: dict[str, Result] = {}
            for done in as_completed(waiting):
                results[waiting[done].name] = done.result()
                told(done.result())
    return [results[fault.name] for fault in faults]


@contextmanager
def _workshops(root: Path, count: int, patience: float) -> Iterator[Queue[Workshop]]:
    shops: Queue[Workshop] = Queue()
    workshops: list[Workshop] = []
    try:
        for _ in range(count):
            workshops.append(Workshop(root, patience=patience))
            shops.put(workshops[-1])
        yield shops
    finally:
        for shop in workshops:
            shop.close()


def _check_ground(shop: Workshop, faults: Sequence[Fault], canary: Fault | None, *, baseline: bool) -> None:
    """The copy is what is tested, a gross fault is caught, and without a fault everything passes."""
    if not shop.imports_itself():
        raise NoSoundGroundError("The tests would import the installed package, not the copy.")
    if canary is not None and shop.test_with(canary, canary.targets).code != TESTS_FAILED:
        raise NoSoundGroundError(f"The gross fault {canary.name!r} is not caught: the tests do not see the copy.")
    if baseline:
        targets = sorted({target for fault in faults for target in fault.targets})
        run = shop.test(targets)
        if run.code != 0:
            raise NoSoundGroundError(f"Without a fault the tests do not pass: {run.failed}")


def _try_in(shops: Queue[Workshop], fault: Fault, *, thorough: bool) -> Result:
    shop = shops.get()
    try:
        return _try(shop, fault, thorough=thorough)
    finally:
        shops.put(shop)


def _try(shop: Workshop, fault: Fault, *, thorough: bool) -> Result:
    run = shop.test_with(fault, fault.targets)
    verdict = _verdict(run)
    if verdict is not Verdict.SURVIVED or not thorough:
        return Result(fault, verdict, "" if verdict is Verdict.SURVIVED else _by(run), run.seconds)
    wide = shop.test_with(fault, EVERYTHING)
    elsewhere = Verdict.CAUGHT_ELSEWHERE if _verdict(wide) is Verdict.CAUGHT else _verdict(wide)
    return Result(fault, elsewhere, _by(wide), run.seconds + wide.seconds)


def _verdict(run: Run) -> Verdict:
    """Tests that hang have noticed; tests that could not be run at all have not."""
    if run.code is None or run.code in {TESTS_FAILED, COLLECTION_FAILED}:
        return Verdict.CAUGHT
    return Verdict.SURVIVED if run.code == 0 else Verdict.BROKEN


def _by(run: Run) -> str:
    return "took too long" if run.code is None else run.failed.removeprefix("FAILED ").removeprefix("ERROR ")
