"""The one thread that stops statements whose time is over."""

import threading

import pytest

import hedgerow as hr
from hedgerow.backends.results import stop_after
from hedgerow.backends.time_limits import TimeLimits


def test_a_statement_is_stopped_when_its_time_is_over():
    stopped = threading.Event()

    def run():
        with stop_after(0.01, stopped.set):
            stopped.wait()
            raise RuntimeError("interrupted; the engine's own words")

    with pytest.raises(hr.BackendError) as caught:
        run()
    assert caught.value.code == "timed-out"
    assert "engine's own words" not in str(caught.value)


def test_limits_run_out_in_the_order_of_their_ends_and_ended_ones_never():
    limits, calls, done = TimeLimits(), [], threading.Event()
    with limits._changed:  # nothing runs out meanwhile
        ended = limits.start(0.0, lambda: calls.append("ended"))
        limits.start(0.15, lambda: calls.append("long"))
        limits.start(0.0, lambda: calls.append("short"))
        limits.start(0.3, done.set)
        limits.end(ended)
    done.wait()
    assert calls == ["short", "long"]


def test_the_thread_ends_with_the_last_limit_and_starts_again():
    limits = TimeLimits()
    for _ in range(3):
        done = threading.Event()
        limits.start(0.0, done.set)
        done.wait()


def test_a_limit_that_has_ended_holds_nothing():
    limits = TimeLimits()
    limit = limits.start(3600, print)
    limits.end(limit)
    assert limit == [None]
