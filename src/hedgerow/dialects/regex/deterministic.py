"""Patterns that leave no choice: at each place the next character decides how to go on.

The places are those of the characters in the pattern (Glushkov's automaton). Where all that can follow a place are
apart from each other, a text is read in one way only. Of its beginnings that match, RE2 takes the longest as well, if
repetitions are greedy and a branch that may be empty is the last one: to go on is then always tried first.
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

MOST_PLACES = 2_000
Places = frozenset[int]


@dataclass(frozen=True, slots=True)
class _Extent:
    """Places at which a part of a pattern can begin and end; `empty` if it can match nothing."""

    first: Places
    last: Places
    empty: bool


@dataclass(slots=True)
class _Automaton:
    """The characters at each place, and what can follow each."""

    chars: list[Ranges] = field(default_factory=list)
    follow: dict[int, set[int]] = field(default_factory=dict)

    def join(self, left: Places, right: Places) -> None:
        """Let `right` follow `left`."""
        for place in left:
            self.follow.setdefault(place, set()).update(right)


class _UnclearError(Exception):
    """The pattern leaves a choice."""


def is_clear(tree: Node) -> bool:
    """Return True if RE2 and PostgreSQL find the same match, with the same groups."""
    automaton = _Automaton()
    try:
        span = _span(_without_ends(without_brackets(tree)), automaton)
    except _UnclearError:
        return False
    return all(_apart(automaton, places) for places in (span.first, *automaton.follow.values()))


def _without_ends(tree: Node) -> Node:
    """The pattern without `^` before and `$` behind all of it."""
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


def _apart(automaton: _Automaton, places: AbstractSet[int]) -> bool:
    ranges = sorted(pair for place in places for pair in automaton.chars[place])
    return all(one[1] < other[0] for one, other in pairwise(ranges))


def _span(node: Node, automaton: _Automaton) -> _Extent:
    if isinstance(node, Characters):
        automaton.chars.append(node.ranges)
        if len(automaton.chars) > MOST_PLACES:
            raise _UnclearError
        place = frozenset({len(automaton.chars) - 1})
        return _Extent(place, place, empty=False)
    if isinstance(node, Concatenation):
        return _chain([_span(part, automaton) for part in node.parts], automaton)
    if isinstance(node, Alternation):
        return _choice([_span(branch, automaton) for branch in node.options])
    if isinstance(node, Group):
        return _span(node.body, automaton)
    if isinstance(node, Repeat):
        return _repeat(node, automaton)
    raise _UnclearError


def _choice(spans: list[_Extent]) -> _Extent:
    if any(span.empty for span in spans[:-1]):
        raise _UnclearError
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
    """As many copies as are counted, each only behind the one before; without a limit, the last one follows itself."""
    if node.lazy:
        raise _UnclearError
    copies = max(node.minimum, 1) if node.maximum is None else node.maximum
    spans = [_span(node.body, automaton) for _ in range(copies)]
    if any(span.empty for span in spans):
        raise _UnclearError
    for one, other in pairwise(spans):
        automaton.join(one.last, other.first)
    if not spans:
        return _Extent(frozenset(), frozenset(), empty=True)
    if node.maximum is None:
        automaton.join(spans[-1].last, spans[-1].first)
    last: Places = frozenset().union(*(span.last for span in spans[max(node.minimum, 1) - 1 :]))
    return _Extent(spans[0].first, last, empty=node.minimum == 0)
