"""The one module through which tests reach behind `hr.Database`.

`db.explain` shows plan, limits, noise, price and SQL, and is to be used wherever it serves. Attacks and tests of single
steps need more: the connection that statements go through, the plan as an object, the ledger of a database.
"""

from hedgerow.session.corridor import bind_statement


def session_of(db):
    """The `Session` of a database: its backend, schema, catalog, ledger and engine for post-processing."""
    return db._session


def plan_of(db, query, params=None, **options):
    """The logical plan of a statement."""
    return bind_statement(session_of(db), query, params, options).logical


def price_of(db, query, params=None, **options):
    """The logical plan of a statement, and its priced plan: None where it reads public tables alone."""
    session = session_of(db)
    statement = bind_statement(session, query, params, options)
    if not statement.logical.releases:
        return statement.logical, None
    return statement.logical, session.price(statement.logical, statement.request, session.remaining())
