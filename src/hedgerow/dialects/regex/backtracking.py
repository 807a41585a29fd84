"""A tree of a regular expression as Java reads it: the same matches, without ever running away or out of stack.

Java goes back and forth. A repetition of one sign is a loop, and so is one of a fixed run of signs; a repetition of
anything else, without end, calls itself for each round. And each repetition that may give signs back multiplies the
time by the length of the text. So

    what repeats without end is one sign, or a fixed run of signs of one width;
    what surely need not be given back is never given back;
    and what is left may go over the text twice, not three times.

Privacy: a pattern that fails, or never ends, on some rows only would tell of them.
"""

from hedgerow.dialects.regex.tree import (
    EVERY,
    NEWLINE,
    WORD,
    Alternation,
    Anchor,
    Characters,
    Concatenation,
    Group,
    Node,
    Ranges,
    Repeat,
    UnsupportedPatternError,
    Until,
    complement,
    merged,
    overlap,
)

MOST_ROUNDS = 100
"""How often a choice may be repeated, all repetitions around it taken together."""

MOST_PASSES = 2
WIDE = 0xFFFF
LINE = complement(NEWLINE)


def java(tree: Node, *, search: bool = False) -> str:
    """The pattern; for a `search`, which asks only whether there is a match, it may be made simpler."""
    tree = simple(tree)
    tree = searched(tree) if search else tree
    writer = _Writer()
    text = writer.write(tree, END, rounds=1)
    if writer.passes + (not starts_text(tree)) > MOST_PASSES:
        raise UnsupportedPatternError("too many repetitions that overlap")
    return text


Follow = Ranges | None
"""Characters that may come next; empty at the end of the pattern or the text; None where they are not known."""

END: Follow = ()


def starts_text(node: Node) -> bool:
    """Return True if a match can only begin where the text does."""
    if isinstance(node, Concatenation):
        return bool(node.parts) and starts_text(node.parts[0])
    if isinstance(node, Alternation):
        return all(map(starts_text, node.options))
    if isinstance(node, Group):
        return starts_text(node.body)
    return isinstance(node, Anchor) and node.kind == "A"


class _Writer:
    """Writes from right to left, for what is given back depends on what comes next."""

    def __init__(self) -> None:
        self.passes = 0
        self._looked = False

    def write(self, node: Node, follow: Follow, rounds: int) -> str:
        if isinstance(node, Characters):
            return sign_text(node.ranges)
        if isinstance(node, Anchor):
            return PLACES[node.kind]
        if isinstance(node, Alternation):
            return "|".join(self.write(option, follow, rounds) for option in node.options)
        if isinstance(node, Group):
            return f"({'' if node.number else '?:'}{self.write(node.body, follow, rounds)})"
        if isinstance(node, Repeat):
            return self._repeat(node, follow, rounds)
        if isinstance(node, Until):
            return self._until(node)
        return self._sequence(node, follow, rounds)

    def _until(self, node: Until) -> str:
        """However many there are, they go over the text once."""
        self.passes += not self._looked
        self._looked = True
        return f"(?>{sign_text(node.over)}*?{''.join(sign_text(sign.ranges) for sign in node.run)})"

    def _sequence(self, node: Concatenation, follow: Follow, rounds: int) -> str:
        texts = list[str]()
        for part in reversed(node.parts):
            text = self.write(part, follow, rounds)
            texts.append(f"(?:{text})" if isinstance(part, Alternation) else text)
            follow = first_of(part, follow)
        return "".join(reversed(texts))

    def _repeat(self, node: Repeat, follow: Follow, rounds: int) -> str:
        if isinstance(node.body, Characters):
            return self._signs(node.body, node, follow)
        if node.maximum is None:
            return self._runs(node, follow)
        rounds *= max(node.maximum, 1)
        if rounds > MOST_ROUNDS:
            raise UnsupportedPatternError("a choice repeated too often")
        before = self.passes
        body = self.write(node.body, None, rounds)
        self.passes = before + (self.passes - before) * max(node.maximum, 1)
        return f"{body}{{{node.minimum},{node.maximum}}}{'?' * node.lazy}"

    def _signs(self, sign: Characters, node: Repeat, follow: Follow) -> str:
        text = sign_text(sign.ranges)
        fixed = "" if node.minimum == 0 else text if node.minimum == 1 else f"{text}{{{node.minimum}}}"
        if node.maximum is not None:
            return (
                fixed
                if node.maximum == node.minimum
                else f"{fixed}{text}{{0,{node.maximum - node.minimum}}}{'?' * node.lazy}"
            )
        if not node.lazy and follow is not None and not overlap(sign.ranges, follow):
            return f"{fixed}{text}*+"
        self.passes += 1
        return f"{fixed}{text}*{'?' * node.lazy}"

    def _runs(self, node: Repeat, follow: Follow) -> str:
        """A fixed run of signs, all of one width, without end."""
        signs = run_of(node.body)
        if signs is None or any(sign.ranges[-1][1] > WIDE for sign in signs):
            raise UnsupportedPatternError("a choice repeated without end")
        body = "".join(sign_text(sign.ranges) for sign in signs)
        capture = isinstance(node.body, Group) and node.body.number is not None
        first = signs[0].ranges
        self.passes += follow is None or overlap(first, follow)
        return f"({'' if capture else '?:'}{body}){{{node.minimum},}}{'?' * node.lazy}"


def simple(node: Node) -> Node:
    """The same with brackets, sequences and choices of single signs made signs."""
    if isinstance(node, Concatenation):
        parts = tuple(map(simple, node.parts))
        return parts[0] if len(parts) == 1 else Concatenation(parts)
    if isinstance(node, Alternation):
        options = tuple(map(simple, node.options))
        signs = [option for option in options if isinstance(option, Characters)]
        alike = len(signs) == len(options)
        return Characters(merged([pair for sign in signs for pair in sign.ranges])) if alike else Alternation(options)
    if isinstance(node, Group):
        body = simple(node.body)
        return body if isinstance(body, Characters) and node.number is None else Group(body, node.number)
    return Repeat(simple(node.body), node.minimum, node.maximum, node.lazy) if isinstance(node, Repeat) else node


def searched(tree: Node) -> Node:
    """A pattern that matches the same texts, if not the same parts of them.

    What goes over any signs to a run of signs, and from there over any signs again, may stop at the first such run:
    from there on, more is left to go over.
    """
    parts: list[Node] = [*tree.parts] if isinstance(tree, Concatenation) else [tree]
    while parts and _goes_over(parts[0]):
        parts = parts[1:]
    while parts and _goes_over(parts[-1]):
        parts = parts[:-1]
    found, at = list[Node](), 0
    while at < len(parts):
        run = _run_after(parts, at)
        over = _goes_over(parts[at])
        if over and run and _may_stop(over, run, parts[at + 1 + len(run) :]):
            found.append(Until(over, tuple(run)))
            at += len(run)
        else:
            found.append(parts[at])
        at += 1
    return Concatenation(tuple(found))


def _goes_over(node: Node) -> Ranges | None:
    """The signs, if it is `.*`."""
    loop = isinstance(node, Repeat) and node.minimum == 0 and node.maximum is None
    body = node.body if isinstance(node, Repeat) else None
    return body.ranges if loop and isinstance(body, Characters) and body.ranges in {EVERY, LINE} else None


def _run_after(parts: list[Node], at: int) -> list[Characters]:
    run = list[Characters]()
    for part in parts[at + 1 :]:
        if not isinstance(part, Characters):
            break
        run.append(part)
    return run


def _may_stop(over: Ranges, run: list[Characters], rest: list[Node]) -> bool:
    """Return True if nothing follows, or what goes over all that was gone over and the run as well."""
    if not rest:
        return True
    after = _goes_over(rest[0])
    if after is None:
        return False
    return after == EVERY or (over == LINE and not any(overlap(sign.ranges, NEWLINE) for sign in run))


def run_of(node: Node) -> list[Characters] | None:
    """The signs of a fixed run."""
    if isinstance(node, Characters):
        return [node]
    if isinstance(node, Group):
        return run_of(node.body)
    if not isinstance(node, Concatenation) or not node.parts:
        return None
    runs = [run_of(part) for part in node.parts if not isinstance(part, Group)]
    if len(runs) < len(node.parts) or any(run is None for run in runs):
        return None
    return [sign for run in runs if run is not None for sign in run]


def first_of(node: Node, follow: Follow) -> Follow:
    """The signs with which a node, or what follows it, can begin; None where that is not known, as at the end."""
    if isinstance(node, Characters):
        return node.ranges
    if isinstance(node, Anchor):
        return () if node.kind == "z" else None
    if isinstance(node, Group):
        return first_of(node.body, follow)
    if isinstance(node, Alternation):
        return _either([first_of(option, follow) for option in node.options])
    if isinstance(node, Until):
        return None
    if isinstance(node, Repeat):
        inside = first_of(node.body, None)
        return inside if node.minimum else _either([inside, follow])
    for part in reversed(node.parts):
        follow = first_of(part, follow)
    return follow


def _either(several: list[Follow]) -> Follow:
    known = [ranges for ranges in several if ranges is not None]
    return tuple(pair for ranges in known for pair in ranges) if len(known) == len(several) else None


def sign_text(ranges: Ranges) -> str:
    """A set of code points, by their numbers."""
    if ranges == EVERY:
        return "(?s:.)"
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _code(ranges[0][0])
    return f"[{''.join(_code(low) if low == high else f'{_code(low)}-{_code(high)}' for low, high in ranges)}]"


def _code(code: int) -> str:
    return chr(code) if code < 128 and chr(code).isalnum() else f"\\x{{{code:X}}}"


WORDS = sign_text(WORD)
PLACES = {
    "A": "\\A",
    "z": "\\z",
    "^": "(?<![^\\x{A}])",
    "$": "(?![^\\x{A}])",
    "b": f"(?:(?<={WORDS})(?!{WORDS})|(?<!{WORDS})(?={WORDS}))",
}
