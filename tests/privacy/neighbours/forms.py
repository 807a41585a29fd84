"""Every form of a statement that facts about its rows allow."""

import pyarrow as pa

from hedgerow.compiled import BEYOND, CODES, HEAVY, MOST_BLOCKS, MOST_CODES, OWNERS, PEOPLE

NAMED = {f"{kind}{fact}" for kind in ("within", "apart") for fact in ("", ", blocked", ", counted")}


def allowed_forms(query, run, load, others=()):
    """The statement itself and its cheaper forms, by name; the facts they rely on are computed and loaded.

    `others` are owners who are added to those beyond a limit: who is treated like them must not matter.
    """
    forms = {"ordinary": query}
    if query.optimistic is not None and is_proved(run(query.optimistic.query)):
        forms["optimistic"] = query.optimistic.query
    shortcut = query.shortcut
    if shortcut is None:
        return forms
    heavy = run(shortcut.heavy)
    beyond = heavy.column("o").to_pylist()
    load(HEAVY, pa.table({"o": pa.array(sorted({*beyond, *others}), type=heavy.schema.field("o").type)}))
    ways = [""]
    if shortcut.codes is not None and load_codes(run(shortcut.codes), load):
        ways.append("coded")
    if shortcut.blocks is not None and run(shortcut.blocks).num_rows <= MOST_BLOCKS:
        ways.append("blocked")
    if shortcut.people is not None:
        load(PEOPLE, run(shortcut.people))
        ways.append("counted")
    for kind in ("apart",) if beyond else ("apart", "within"):
        written = {f"{kind}, {way}" if way else kind: getattr(shortcut, f"{kind}_{way}".rstrip("_")) for way in ways}
        forms |= {name: form for name, form in written.items() if form is not None}
    if not beyond and shortcut.strays is not None and run(shortcut.strays).num_rows == 0:
        forms["ownerless"] = shortcut.ownerless
    return forms | beside_owners(forms, shortcut, run, load)


def is_proved(result):
    """True if a short statement proves that nobody is beyond a limit."""
    return result.num_rows > 0 and not any(result.column(BEYOND).to_pylist())


def beside_owners(forms, shortcut, run, load):
    """The same forms with the owner column in place of the path, if there is one that can be used."""
    if shortcut.owned is None:
        return {}
    column = run(shortcut.owners.column)
    if column.num_rows != run(shortcut.owners.rows).column(0)[0].as_py():
        return {}
    load(OWNERS, column)
    owned = {name: getattr(shortcut.owned.shortcut, name.replace(", ", "_")) for name in forms.keys() & NAMED}
    return {f"{name}, beside": query for name, query in {**owned, "ordinary": shortcut.owned}.items()}


def load_codes(keys, load):
    load(CODES, keys)
    return keys.num_rows <= MOST_CODES


def integers(exact):
    """The keys and integers of a result, in a fixed order."""
    columns = [column.to_pylist() for column in exact.exact_keys().columns]
    columns += [[int(number) for number in exact.exact_integers(name)] for name in exact.names]
    return sorted(zip(*columns, strict=True), key=repr)
