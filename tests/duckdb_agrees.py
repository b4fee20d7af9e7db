#!/usr/bin/env python3
"""duckdb_agrees.py WAREHOUSE: runs the files of queries/ in DuckDB over the Parquet of a warehouse, and compares.

Needs duckdb from pip. Every intermediate that the run left in derived/ is computed once more from the files alone and must be
the same rows. The two columns that the run adds itself (enrollment_interval.takes_effect_at, event.weight) are taken from there.
"""

import pathlib
import re
import sys

import duckdb

QUERIES = pathlib.Path(__file__).resolve().parent.parent / "queries"
# What the run gives the queries, beside the ledger's tables.
INPUTS = (
    "policy", "identity", "anchor_party", "membership", "former_membership", "organization", "refusing_party", "pool_mean",
)
ADDED = {"enrollment_interval": ["takes_effect_at"], "event": ["weight"]}


def tables_of(sql):
    """The names that a query reads."""
    code = re.sub(r"--[^\n]*", "", sql)
    return set(re.findall(r"\b(?:from|join)\s+([a-z_]+)", code))


def kept(warehouse, name):
    """Where the run keeps a query's rows: a file, the files of a folder where it ran over parts, or nowhere."""
    file, parts = warehouse / "derived" / f"{name}.parquet", warehouse / "derived" / name
    return file if file.exists() else parts / "*.parquet" if parts.is_dir() else None


def main():
    warehouse = pathlib.Path(sys.argv[1])
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    for folder in sorted(warehouse.iterdir()):
        if folder.is_dir() and folder.name != "derived" and list(folder.glob("*.parquet")):
            connection.execute(f"create view {folder.name} as from read_parquet('{folder}/*.parquet')")
    for name, path in (("finding", "findings"), ("withheld", "withheld")):
        connection.execute(f"create view {name} as from '{warehouse}/{path}.parquet'")
    for name in INPUTS:
        connection.execute(f"create view {name} as from '{warehouse}/derived/{name}.parquet'")

    pending = {path.stem: path.read_text() for path in sorted(QUERIES.glob("*.sql"))}
    names = set(pending)
    compared = failed = 0
    while pending:
        ready = [name for name, sql in pending.items() if not (tables_of(sql) & names & set(pending)) - {name}]
        if not ready:
            sys.exit(f"these read each other: {sorted(pending)}")
        for name in ready:
            connection.execute(f"create table computed_{name} as {pending.pop(name)}")
            path = kept(warehouse, name)
            if path is None:
                connection.execute(f"create view {name} as from computed_{name}")
                continue
            connection.execute(f"create view {name} as from '{path}'")
            added = ADDED.get(name, [])
            columns = [row[0] for row in connection.execute(f"describe computed_{name}").fetchall()]
            ours = [row[0] for row in connection.execute(f"describe {name}").fetchall()]
            if ours != columns + added:
                sys.exit(f"{name}: the columns are {ours}, DuckDB gives {columns}")
            listed = ", ".join(f'"{column}"' for column in columns)
            apart = connection.execute(
                f"select count(*) from ((from (select {listed} from {name}) except all from computed_{name})"
                f" union all (from computed_{name} except all from (select {listed} from {name})))"
            ).fetchone()[0]
            rows = connection.execute(f"select count(*) from {name}").fetchone()[0]
            compared += 1
            failed += apart > 0
            print(f"{name}: {rows} rows" + (f", {apart} differ" if apart else ""))
    print(f"{compared - failed} passed, {failed} failed")
    sys.exit(1 if failed or not compared else 0)


if __name__ == "__main__":
    main()
