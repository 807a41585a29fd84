"""Every form of a statement that facts about its rows allow."""

import pyarrow as pa

from hedgerow.compiled import CODES, HEAVY, MOST_CODES, PEOPLE


def allowed_forms(query, run, load, others=()):
    """The statement itself and its cheaper forms, by name; the facts they rely on are computed and loaded.

    `others` are owners who are added to those beyond a limit: who is treated like them must not matter.
    """
    forms = {"ordinary": query}
    shortcut = query.shortcut
    if shortcut is None:
        return forms
    heavy = run(shortcut.heavy)
    beyond = heavy.column("o").to_pylist()
    load(HEAVY, pa.table({"o": pa.array(sorted({*beyond, *others}), type=heavy.schema.field("o").type)}))
    forms["apart"] = shortcut.apart
    if shortcut.codes is not None and load_codes(run(shortcut.codes), load):
        forms["apart, coded"] = shortcut.apart_coded
    if not beyond:
        forms["within"] = shortcut.within
        if "apart, coded" in forms:
            forms["within, coded"] = shortcut.within_coded
        if shortcut.people is not None:
            load(PEOPLE, run(shortcut.people))
            forms["within, counted"] = shortcut.within_counted
        if shortcut.strays is not None and run(shortcut.strays).num_rows == 0:
            forms["ownerless"] = shortcut.ownerless
    return forms


def load_codes(keys, load):
    load(CODES, keys)
    return keys.num_rows <= MOST_CODES


def integers(exact):
    """The keys and integers of a result, in a fixed order."""
    columns = [column.to_pylist() for column in exact.exact_keys().columns]
    columns += [[int(number) for number in exact.exact_integers(name)] for name in exact.names]
    return sorted(zip(*columns, strict=True), key=repr)
