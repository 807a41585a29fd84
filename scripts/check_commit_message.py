#!/usr/bin/env python3
"""Check a commit message: `area: imperative sentence`, where the area is a package or a folder of this repository.

pre-commit runs it as the `commit-msg` hook, with the file that holds the message.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LONGEST = 100
BESIDES_PACKAGES = {"benchmarks", "build", "changelog", "ci", "docs", "scripts", "tests"}
WRITTEN_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ", "amend! ")
SAYS_NOTHING = {"tidy", "cleanup", "misc", "stuff", "wip", "various"}
LOOK_LIKE_OTHER_FORMS = {"alias", "bias", "bring", "embed", "feed", "focus", "need", "ping", "seed", "speed", "string"}
"""Imperatives that end like a past tense, a gerund or a third person."""


def areas() -> set[str]:
    """Return what may stand before the colon: modules and packages of hedgerow, and folders beside them."""
    modules = {path.stem for path in (ROOT / "src" / "hedgerow").iterdir() if not path.name.startswith((".", "_"))}
    return modules | BESIDES_PACKAGES


def problems(message: str) -> list[str]:
    """Return what is wrong with a message, in full sentences; nothing if it is as it should be."""
    lines = [line for line in message.splitlines() if not line.startswith("#")]
    subject, body = (lines[0] if lines else ""), lines[1:]
    if subject.startswith(WRITTEN_BY_GIT):
        return []
    noted = _problems_of_subject(subject)
    if body and body[0].strip():
        noted.append("Leave the second line empty.")
    return noted


def _problems_of_subject(subject: str) -> list[str]:
    area, colon, sentence = subject.partition(": ")
    if not colon or not sentence.strip():
        return ["Write `area: imperative sentence`, such as `ledger: keep the books readable after a rank release`."]
    noted = []
    if area not in areas():
        noted.append(f"`{area}` is not an area. Write one of: {', '.join(sorted(areas()))}.")
    if len(subject) > LONGEST:
        noted.append(f"Keep the first line within {LONGEST} characters; it has {len(subject)}.")
    if subject.endswith("."):
        noted.append("Leave out the full stop of the first line.")
    return noted + _problems_of_verb(sentence.split()[0])


def _problems_of_verb(word: str) -> list[str]:
    if word.lower().strip(",;:") in SAYS_NOTHING:
        return [f"Say what was changed and why, instead of `{word}`."]
    if word[0].isupper():
        return [f"Begin with a verb in lower case: `{word.lower()}`."]
    third_person = word.endswith("s") and not word.endswith("ss")
    if word not in LOOK_LIKE_OTHER_FORMS and (third_person or re.fullmatch(r"[a-z]+(ed|ing)", word)):
        return [f"Begin with an imperative (`add`, `refuse`, `keep`), not with `{word}`."]
    return []


def main() -> int:
    """Print what is wrong with the message in a file, and return the exit code."""
    noted = problems(Path(sys.argv[1]).read_text(encoding="utf-8"))
    for problem in noted:
        print(problem, file=sys.stderr)
    return 1 if noted else 0


if __name__ == "__main__":
    sys.exit(main())
