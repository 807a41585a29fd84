"""The tables of ledgers in PostgreSQL."""

TABLES = ("ledgers", "entries", "releases")


def definition(schema: str) -> str:
    """The tables, for all ledgers of one schema. Nothing in them can be changed in passing."""
    text = 'text COLLATE "C"'
    guards = "".join(
        f"CREATE TRIGGER {table}_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.{table} "
        f"FOR EACH STATEMENT EXECUTE FUNCTION {schema}.append_only();\n"
        for table in TABLES
    )
    return f"""
CREATE SCHEMA IF NOT EXISTS {schema};
CREATE TABLE {schema}.ledgers (
    ledger {text} PRIMARY KEY,
    dataset {text} NOT NULL UNIQUE,
    format integer NOT NULL
);
CREATE TABLE {schema}.entries (
    ledger {text} NOT NULL,
    sequence bigint NOT NULL CHECK (sequence >= 0),
    kind {text} NOT NULL,
    time {text} NOT NULL,
    analyst {text},
    refers bigint,
    state text NOT NULL,
    body text NOT NULL,
    previous {text} NOT NULL,
    hash {text} NOT NULL,
    PRIMARY KEY (ledger, sequence)
);
CREATE TABLE {schema}.releases (
    ledger {text} NOT NULL,
    sequence bigint NOT NULL,
    charge bigint NOT NULL,
    fingerprint {text} NOT NULL,
    version {text},
    noise text NOT NULL,
    payload bytea NOT NULL,
    PRIMARY KEY (ledger, sequence),
    UNIQUE (ledger, charge)
);
CREATE INDEX charges_by_analyst ON {schema}.entries (ledger, analyst, sequence) WHERE kind = 'charged';
CREATE UNIQUE INDEX outcomes_by_charge ON {schema}.entries (ledger, refers) WHERE refers IS NOT NULL;
CREATE INDEX terms ON {schema}.entries (ledger, sequence) WHERE kind IN ('opened', 'raised');
CREATE INDEX releases_by_question ON {schema}.releases (ledger, fingerprint, sequence);
CREATE FUNCTION {schema}.append_only() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'append-only' USING ERRCODE = 'restrict_violation'; END $$;
{guards}"""
