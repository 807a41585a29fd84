"""Deterministic patterns: the next character always determines how to continue.

The states are the characters of the pattern (Glushkov's automaton). If all states that can follow a state have disjoint
characters, a text can be read in one way only. RE2 then also takes the longest match, provided that repetitions are
greedy and an alternative that may be empty comes last: continuing is then always tried first.
"""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

from hedgerow.dialects.regex.tree import (
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Group,
    Node,
    Ranges,
    Repeat,
    without_brackets,
)

MAX_STATES = 2_000
States = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Extent:
    """States at which a part of a pattern can begin and end; `empty` if it can match the empty text."""

    first: States
    last: States
    empty: bool


@dataclass(slots=True)
class _Automaton:
    """The characters of each state, and the states that can follow it."""

    chars: list[Ranges] = field(default_factory=list)
    follow: dict[int, set[int]] = field(default_factory=dict)

    def join(self, left: States, right: States) -> None:
        """Let `right` follow `left`."""
        for state in left:
            self.follow.setdefault(state, set()).update(right)


class _AmbiguousError(Exception):
    """The pattern is not deterministic."""


def is_deterministic(tree: Node) -> bool:
    """Return True if RE2 and PostgreSQL find the same match, with the same groups."""
    automaton = _Automaton()
    try:
        span = _span(_without_ends(without_brackets(tree)), automaton)
    except _AmbiguousError:
        return False
    return all(_disjoint(automaton, states) for states in (span.first, *automaton.follow.values()))


def _without_ends(tree: Node) -> Node:
    """Return the pattern without `^` and `$` around it."""
    if isinstance(tree, Anchor):
        return Concatenation(())
    if not isinstance(tree, Concatenation):
        return tree
    parts = list(tree.parts)
    if parts and parts[0] == Anchor("A"):
        parts = parts[1:]
    if parts and parts[-1] == Anchor("z"):
        parts = parts[:-1]
    return Concatenation(tuple(parts))


def _disjoint(automaton: _Automaton, states: AbstractSet[int]) -> bool:
    ranges = sorted(pair for state in states for pair in automaton.chars[state])
    return all(one[1] < other[0] for one, other in pairwise(ranges))


def _span(node: Node, automaton: _Automaton) -> _Extent:
    if isinstance(node, Characters):
        automaton.chars.append(node.ranges)
        if len(automaton.chars) > MAX_STATES:
            raise _AmbiguousError
        state = frozenset({len(automaton.chars) - 1})
        return _Extent(state, state, empty=False)
    if isinstance(node, Concatenation):
        return _chain([_span(part, automaton) for part in node.parts], automaton)
    if isinstance(node, Alternation):
        return _choice([_span(branch, automaton) for branch in node.options])
    if isinstance(node, Group):
        return _span(node.body, automaton)
    if isinstance(node, Repeat):
        return _repeat(node, automaton)
    raise _AmbiguousError


def _choice(spans: list[_Extent]) -> _Extent:
    if any(span.empty for span in spans[:-1]):
        raise _AmbiguousError
    return _Extent(
        frozenset().union(*(span.first for span in spans)),
        frozenset().union(*(span.last for span in spans)),
        empty=spans[-1].empty,
    )


def _chain(spans: list[_Extent], automaton: _Automaton) -> _Extent:
    whole = _Extent(frozenset(), frozenset(), empty=True)
    for span in spans:
        automaton.join(whole.last, span.first)
        whole = _Extent(
            whole.first | span.first if whole.empty else whole.first,
            whole.last | span.last if span.empty else span.last,
            empty=whole.empty and span.empty,
        )
    return whole


def _repeat(node: Repeat, automaton: _Automaton) -> _Extent:
    """Chain as many copies as are counted; in an unbounded repetition the last one follows itself."""
    if node.lazy:
        raise _AmbiguousError
    copies = max(node.minimum, 1) if node.maximum is None else node.maximum
    spans = [_span(node.body, automaton) for _ in range(copies)]
    if any(span.empty for span in spans):
        raise _AmbiguousError
    for one, other in pairwise(spans):
        automaton.join(one.last, other.first)
    if not spans:
        return _Extent(frozenset(), frozenset(), empty=True)
    if node.maximum is None:
        automaton.join(spans[-1].last, spans[-1].first)
    last: States = frozenset().union(*(span.last for span in spans[max(node.minimum, 1) - 1 :]))
    return _Extent(spans[0].first, last, empty=node.minimum == 0)
