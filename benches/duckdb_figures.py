#!/usr/bin/env python3
"""duckdb_figures.py WAREHOUSE [--threads 2] [--memory 3GiB] [--bureau-log FILE] [--json]

Times every file of queries/ in DuckDB over the Parquet of a warehouse, beside what `bureau report` took. Needs duckdb
and pyarrow from pip. The bureau's seconds are those of its own log:

    bureau report --verbose --threads 2 --memory 3GiB --warehouse WAREHOUSE --as-of INSTANT 2> FILE

Both make the same things of the same files. What the run keeps as an intermediate (a Parquet of that name in
WAREHOUSE/derived) is copied to Parquet, zstd of level 1 as the run writes it, and read from there by the queries
after it; every other result is fetched as Arrow. Of the two intermediates to which the run adds a column, later
queries read the run's own. WAREHOUSE is only read; what DuckDB writes and spills is in a temporary folder (TMPDIR).
All files are read once beforehand, so that no query waits for the disk. DuckDB's settings are its defaults but for
threads, memory, time zone, where it spills, and no progress bar.

A query that DuckDB does not finish in 300 s is interrupted, counts with 300 s and is marked `>`. DuckDB's seconds are
those of the whole statement. The log's begin once a query is planned, and include the Parquet up to closing the file;
a query that ran over several parts counts with all of them; where its table is read again, that counts for nothing. The
log's other names (`identity`) are no query file.
"""

import argparse
import graphlib
import json
import pathlib
import re
import resource
import tempfile
import threading
import time

import duckdb
import pyarrow  # noqa: F401 (DuckDB would import it within the first query that gives Arrow)

QUERIES = pathlib.Path(__file__).resolve().parent.parent / "queries"
# What the run gives the queries, beside the ledger's tables; the last two are made between two queries.
INPUTS = (
    "policy", "identity", "anchor_party", "membership", "former_membership", "organization", "refusing_party", "pool_mean",
)
# Intermediates to which the run adds a column.
ADDED = ("enrollment_interval", "event")
LIMIT_SECONDS = 300


def tables_of(sql):
    """The names that a query reads."""
    code = re.sub(r"--[^\n]*", "", sql)
    return set(re.findall(r"\b(?:from|join)\s+([a-z_]+)", code))


def in_order(queries):
    """The names of queries, each after those that it reads."""
    graph = {name: sorted(tables_of(sql) & set(queries) - {name}) for name, sql in queries.items()}
    return list(graphlib.TopologicalSorter(graph).static_order())


def read_once(warehouse):
    """Brings the files into the system's cache."""
    for path in warehouse.rglob("*.parquet"):
        with path.open("rb", buffering=0) as file:
            while file.read(1 << 24):
                pass


def opened(warehouse, threads, memory, folder):
    """A connection that has the ledger's tables, the findings and the run's inputs."""
    connection = duckdb.connect()
    connection.execute("set timezone = 'UTC'")
    connection.execute("set enable_progress_bar = false")
    connection.execute(f"set threads = {threads}")
    connection.execute(f"set memory_limit = '{memory}'")
    connection.execute(f"set temp_directory = '{folder}/spill'")
    for table in sorted(warehouse.iterdir()):
        if table.name not in ("derived", "inputs") and list(table.glob("*.parquet")):
            connection.execute(f"create view {table.name} as from read_parquet('{table}/*.parquet')")
    for name, stem in (("finding", "findings"), ("withheld", "withheld")):
        connection.execute(f"create view {name} as from '{warehouse}/{stem}.parquet'")
    for name in INPUTS:
        connection.execute(f"create view {name} as from '{warehouse}/derived/{name}.parquet'")
    return connection


def result(connection, name, sql, path):
    """Runs a query and returns its number of rows: into a Parquet file, or as Arrow where there is no path."""
    if path is None:
        return connection.sql(sql).to_arrow_table().num_rows
    options = "format parquet, compression zstd, compression_level 1"
    return connection.execute(f"copy ({sql}) to '{path}' ({options})").fetchall()[0][0]


def timed(connection, name, sql, path):
    """Rows (none where it was interrupted) and seconds of a query."""
    alarm = threading.Timer(LIMIT_SECONDS, connection.interrupt)
    alarm.start()
    begun = time.perf_counter()
    try:
        rows = result(connection, name, sql, path)
    except duckdb.InterruptException:
        return None, float(LIMIT_SECONDS)
    finally:
        alarm.cancel()
    return rows, time.perf_counter() - begun


def kept(warehouse, name):
    """Where the run keeps a query's rows: a file, the files of a folder where it ran over parts, or nowhere."""
    file, parts = warehouse / "derived" / f"{name}.parquet", warehouse / "derived" / name
    return file if file.exists() else parts / "*.parquet" if parts.is_dir() else None


def measured(warehouse, threads, memory):
    """A dictionary a query, in the order in which they ran."""
    queries = {path.stem: path.read_text() for path in sorted(QUERIES.glob("*.sql"))}
    figures = []
    with tempfile.TemporaryDirectory(prefix="duckdb-figures-") as folder:
        connection = opened(warehouse, threads, memory, folder)
        for name in in_order(queries):
            ours = kept(warehouse, name)
            theirs = pathlib.Path(folder) / f"{name}.parquet"
            rows, seconds = timed(connection, name, queries[name], theirs if ours else None)
            figures.append({"query": name, "rows": rows, "duckdb_seconds": seconds, "interrupted": rows is None})
            if ours:
                source = ours if name in ADDED or rows is None else theirs
                connection.execute(f"create view {name} as from '{source}'")
                figures[-1]["rows"] = connection.execute(f"select count(*) from {name}").fetchall()[0][0]
        connection.close()
    return figures


def seconds_of(lines, rows):
    """The seconds of the first lines that together have that many rows: one line, or one a part. None where there are none."""
    seconds = seen = 0
    for _, some, took in lines:
        seen, seconds = seen + int(some), seconds + float(took)
        if rows is None or seen == rows:
            return seconds
    return None


def add_bureau(figures, log):
    """Adds the seconds of the bureau's log."""
    lines = re.findall(r"query (\w+): (\d+) rows, ([\d.]+) s", log)
    for figure in figures:
        named = [line for line in lines if line[0] == figure["query"]]
        figure["bureau_seconds"] = seconds_of(named, figure["rows"])
        if named and figure["bureau_seconds"] is None:
            raise SystemExit(f"{figure['query']}: {figure['rows']} rows in DuckDB, {named[0][1]} in the log")


def row(name, rows, duckdb_seconds, bureau_seconds, mark=""):
    """A line of the table."""
    bureau = "" if bureau_seconds is None else f"{bureau_seconds:.3f}"
    count = "" if rows is None else f"{rows:,}"
    return f"| {name} | {count} | {mark}{duckdb_seconds:.3f} | {bureau} |"


def table(figures, total):
    """The figures as Markdown."""
    lines = ["| query | rows | DuckDB s | bureau s |", "| --- | ---: | ---: | ---: |"]
    for f in figures:
        mark = "> " if f["interrupted"] else ""
        lines.append(row(f"`{f['query']}`", f["rows"], f["duckdb_seconds"], f.get("bureau_seconds"), mark))
    mark = "> " if total["interrupted"] else ""
    lines.append(row("together", None, total["duckdb_seconds"], total["bureau_seconds"], mark))
    return "\n".join(lines)


def sums(figures):
    """The sums of both, over the queries that the log has, or over all where there is no log."""
    paired = [f for f in figures if f.get("bureau_seconds") is not None]
    return {
        "queries": len(paired or figures),
        "duckdb_seconds": sum(f["duckdb_seconds"] for f in paired or figures),
        "bureau_seconds": sum(f["bureau_seconds"] for f in paired) if paired else None,
        "interrupted": sum(f["interrupted"] for f in paired or figures),
    }


def arguments():
    parser = argparse.ArgumentParser(description="Times queries/ in DuckDB over a warehouse, beside the bureau.")
    parser.add_argument("warehouse", type=pathlib.Path, help="a warehouse that has been reported; it is only read")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--memory", default="3GiB", help="DuckDB's memory_limit")
    parser.add_argument("--bureau-log", type=pathlib.Path, help="standard error of `bureau report --verbose`")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def main():
    options = arguments()
    read_once(options.warehouse)
    figures = measured(options.warehouse, options.threads, options.memory)
    if options.bureau_log:
        add_bureau(figures, options.bureau_log.read_text())
    total = sums(figures)
    usage = resource.getrusage(resource.RUSAGE_SELF)
    used = {"peak_mib": usage.ru_maxrss // 1024, "processor_seconds": round(usage.ru_utime + usage.ru_stime, 1)}
    if options.json:
        how = {"duckdb": duckdb.__version__, "threads": options.threads, "memory": options.memory}
        print(json.dumps(how | used | {"queries": figures, "together": total}, indent=1))
        return
    print(f"DuckDB {duckdb.__version__}, {options.threads} threads, {options.memory}, peak {used['peak_mib']} MiB;")
    print(f"{used['processor_seconds']} s of the processor in all (user and system, reading the files once included)\n")
    print(table(figures, total))
    sooner = [f for f in figures if f.get("bureau_seconds") is not None and f["duckdb_seconds"] < f["bureau_seconds"]]
    if sooner:
        print("\nsooner in DuckDB: " + ", ".join(f"`{f['query']}`" for f in sooner))


if __name__ == "__main__":
    main()
