"""Regular expressions for Java and PCRE: the same matches as RE2, in bounded time and stack.

Java backtracks. An unbounded repetition of a character, or of a fixed run of characters, is a loop; of anything else it
is a recursion, once per round. Every repetition that may backtrack multiplies the time by the length of the text. So

    an unbounded repetition is of a character, or of a fixed run of characters of one width;
    a repetition that need not backtrack is possessive;
    and the remaining repetitions may pass over the text twice, not three times.

Privacy: a pattern that fails, or never ends, on some rows only would reveal them.
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

MAX_ROUNDS = 100
"""Maximum number of rounds of an alternation, multiplied over nested repetitions."""

MAX_PASSES = 2
WIDE = 0xFFFF
LINE = complement(NEWLINE)


def java(tree: Node, *, search: bool = False) -> str:
    """Return the pattern; for a `search`, which only asks whether there is a match, it may be simpler."""
    tree = simple(tree)
    tree = searched(tree) if search else tree
    writer = _Writer()
    text = writer.write(tree, END, rounds=1)
    if writer.passes + (not starts_text(tree)) > MAX_PASSES:
        raise UnsupportedPatternError("too many overlapping repetitions")
    return text


Follow = Ranges | None
"""Characters that may come next: none at the end of the pattern or text; None if unknown."""

END: Follow = ()


def starts_text(node: Node) -> bool:
    """Return True if a match can only begin at the start of the text."""
    if isinstance(node, Concatenation):
        return bool(node.parts) and starts_text(node.parts[0])
    if isinstance(node, Alternation):
        return all(map(starts_text, node.options))
    if isinstance(node, Group):
        return starts_text(node.body)
    return isinstance(node, Anchor) and node.kind == "A"


class _Writer:
    """Writes from right to left, because backtracking depends on what comes next."""

    def __init__(self) -> None:
        self.passes = 0
        self._looked = False

    def write(self, node: Node, follow: Follow, rounds: int) -> str:
        if isinstance(node, Characters):
            return class_text(node.ranges)
        if isinstance(node, Anchor):
            return ANCHORS[node.kind]
        if isinstance(node, Alternation):
            return "|".join(self.write(option, follow, rounds) for option in node.options)
        if isinstance(node, Group):
            return f"({'' if node.number else '?:'}{self.write(node.body, follow, rounds)})"
        if isinstance(node, Repeat):
            return self._repeat(node, follow, rounds)
        if isinstance(node, Until):
            # Write an `Until`; together they all pass over the text once.
            self.passes += not self._looked
            self._looked = True
            return f"(?>{class_text(node.over)}*?{''.join(class_text(character.ranges) for character in node.run)})"
        return self._sequence(node, follow, rounds)

    def _sequence(self, node: Concatenation, follow: Follow, rounds: int) -> str:
        texts = list[str]()
        for part in reversed(node.parts):
            text = self.write(part, follow, rounds)
            texts.append(f"(?:{text})" if isinstance(part, Alternation) else text)
            follow = first_of(part, follow)
        return "".join(reversed(texts))

    def _repeat(self, node: Repeat, follow: Follow, rounds: int) -> str:
        if isinstance(node.body, Characters):
            return self._characters(node.body, node, follow)
        if node.maximum is None:
            return self._runs(node, follow)
        rounds *= max(node.maximum, 1)
        if rounds > MAX_ROUNDS:
            raise UnsupportedPatternError("an alternation repeated too often")
        before = self.passes
        body = self.write(node.body, None, rounds)
        self.passes = before + (self.passes - before) * max(node.maximum, 1)
        return f"{body}{{{node.minimum},{node.maximum}}}{'?' * node.lazy}"

    def _characters(self, character: Characters, node: Repeat, follow: Follow) -> str:
        text = class_text(character.ranges)
        fixed = "" if node.minimum == 0 else text if node.minimum == 1 else f"{text}{{{node.minimum}}}"
        if node.maximum is not None:
            return (
                fixed
                if node.maximum == node.minimum
                else f"{fixed}{text}{{0,{node.maximum - node.minimum}}}{'?' * node.lazy}"
            )
        if not node.lazy and follow is not None and not overlap(character.ranges, follow):
            return f"{fixed}{text}*+"
        self.passes += 1
        return f"{fixed}{text}*{'?' * node.lazy}"

    def _runs(self, node: Repeat, follow: Follow) -> str:
        """Write an unbounded repetition of a fixed run of characters of one width."""
        characters = run_of(node.body)
        if characters is None or any(character.ranges[-1][1] > WIDE for character in characters):
            raise UnsupportedPatternError("an unbounded repetition of an alternation")
        body = "".join(class_text(character.ranges) for character in characters)
        capture = isinstance(node.body, Group) and node.body.number is not None
        first = characters[0].ranges
        self.passes += follow is None or overlap(first, follow)
        return f"({'' if capture else '?:'}{body}){{{node.minimum},}}{'?' * node.lazy}"


def simple(node: Node) -> Node:
    """Return the same pattern, with groups, sequences and alternations of single characters merged into characters."""
    if isinstance(node, Concatenation):
        parts = tuple(map(simple, node.parts))
        return parts[0] if len(parts) == 1 else Concatenation(parts)
    if isinstance(node, Alternation):
        options = tuple(map(simple, node.options))
        characters = [option for option in options if isinstance(option, Characters)]
        alike = len(characters) == len(options)
        return (
            Characters(merged([pair for character in characters for pair in character.ranges]))
            if alike
            else Alternation(options)
        )
    if isinstance(node, Group):
        body = simple(node.body)
        return body if isinstance(body, Characters) and node.number is None else Group(body, node.number)
    return Repeat(simple(node.body), node.minimum, node.maximum, node.lazy) if isinstance(node, Repeat) else node


def searched(tree: Node) -> Node:
    """Return a pattern that matches the same texts, though not always the same parts of them.

    A `.*` before a run of characters, followed by another `.*`, may stop at the first occurrence of the run: the second
    `.*` covers the rest.
    """
    parts: list[Node] = [*tree.parts] if isinstance(tree, Concatenation) else [tree]
    while parts and _goes_over(parts[0]):
        parts = parts[1:]
    while parts and _goes_over(parts[-1]):
        parts = parts[:-1]
    nodes, at = list[Node](), 0
    while at < len(parts):
        run = _run_after(parts, at)
        over = _goes_over(parts[at])
        if over and run and _may_stop(over, run, parts[at + 1 + len(run) :]):
            nodes.append(Until(over, tuple(run)))
            at += len(run)
        else:
            nodes.append(parts[at])
        at += 1
    return Concatenation(tuple(nodes))


def _goes_over(node: Node) -> Ranges | None:
    """Return the characters of a `.*`; None for any other node."""
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
    """Return True if nothing follows, or a `.*` follows that covers the skipped characters and the run."""
    if not rest:
        return True
    after = _goes_over(rest[0])
    if after is None:
        return False
    return after == EVERY or (over == LINE and not any(overlap(character.ranges, NEWLINE) for character in run))


def run_of(node: Node) -> list[Characters] | None:
    """Return the characters of a fixed run; None for any other node."""
    if isinstance(node, Characters):
        return [node]
    if isinstance(node, Group):
        return run_of(node.body)
    if not isinstance(node, Concatenation) or not node.parts:
        return None
    runs = [run_of(part) for part in node.parts if not isinstance(part, Group)]
    if len(runs) < len(node.parts) or any(run is None for run in runs):
        return None
    return [character for run in runs if run is not None for character in run]


def first_of(node: Node, follow: Follow) -> Follow:
    """Return the characters with which a node, or what follows it, can begin; None if unknown."""
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


def class_text(ranges: Ranges) -> str:
    """A set of code points as a character class."""
    if ranges == EVERY:
        return "(?s:.)"
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _code(ranges[0][0])
    return f"[{''.join(_code(low) if low == high else f'{_code(low)}-{_code(high)}' for low, high in ranges)}]"


def _code(code: int) -> str:
    return chr(code) if code < 128 and chr(code).isalnum() else f"\\x{{{code:X}}}"


WORDS = class_text(WORD)
ANCHORS = {
    "A": "\\A",
    "z": "\\z",
    "^": "(?<![^\\x{A}])",
    "$": "(?![^\\x{A}])",
    "b": f"(?:(?<={WORDS})(?!{WORDS})|(?<!{WORDS})(?={WORDS}))",
}
