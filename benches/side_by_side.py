#!/usr/bin/env python3
"""side_by_side.py --bureau BIN --export DIR --work DIR [--rounds 3] [--threads 2] [--night DIR100K]

Measures `bureau load`, its chain checked, beside DuckDB, which checks nothing: the same lines into zstd Parquet, once
with a fixed schema and `detail` left as text, once with all types found out (`sample_size=-1`). The three run in
turn, a round after the other, with the same number of threads. With --night, `bureau run` and plain_night.py on
another export likewise; the plain night then compares its pools with those of the run before it, and a difference
ends the measurement. Prints Markdown tables for README.md.

Needs duckdb from pip, and for --night what plain_night.py needs. Every run is a process of its own, into a folder
below --work that is removed afterwards. Peak memory is the operating system's (ru_maxrss), a processor's seconds are
user and system. Wall times are those of the process; for DuckDB, of the statement alone, without Python's start and
imports. The export should be in the system's cache, so all files of it are read once beforehand.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

PLAIN_NIGHT = pathlib.Path(__file__).resolve().parent / "plain_night.py"
DUCKDB = """
import sys, time, duckdb
how, lines, out, threads = sys.argv[1:]
fixed = ("columns={'seq': 'BIGINT', 'at': 'VARCHAR', 'action': 'VARCHAR', 'subject': 'VARCHAR', "
         "'capability': 'VARCHAR', 'detail': 'JSON', 'prev_hash': 'VARCHAR', 'entry_hash': 'VARCHAR'}")
duckdb.execute(f"set threads = {threads}")
duckdb.execute("set enable_progress_bar = false")
begun = time.monotonic()
source = f"read_json('{lines}', format='newline_delimited', {fixed if how == 'fixed' else 'sample_size=-1'})"
duckdb.execute(f"copy (select * from {source}) to '{out}' (format parquet, compression zstd)")
print(time.monotonic() - begun)
"""
STAGES = (
    ("lines, chain, tables", "load", "load"),
    ("signatures (bureau: every rule of the audit)", "audit", "signatures"),
    ("figures (bureau: and every document)", "report", "figures"),
    ("snapshot, signed", "publish", None),
)


@dataclasses.dataclass
class Reading:
    """One run of one thing."""

    wall: float
    processor: float
    peak_mib: float
    output: str


def run(command):
    """Runs a command and measures it. Ends this program where the command fails."""
    begun = time.monotonic()
    process = subprocess.Popen([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.monotonic() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(map(str, command))}: ended with {process.returncode}\n{output}")
    return Reading(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output)


def bureau_load(options, folder):
    salt = options.export / "anchor.salt"
    command = [options.bureau, "load", "--threads", options.threads, "--export", options.export, "--salt-file", salt]
    return run([*command, "--warehouse", folder / "warehouse", "--json"])


def duckdb_load(options, folder, how):
    ledger = "ledger/*.jsonl*" if (options.export / "ledger").is_dir() else "ledger.jsonl*"
    command = [sys.executable, "-c", DUCKDB, how, options.export / ledger, folder / "ledger.parquet", options.threads]
    reading = run(command)
    reading.wall = float(reading.output)
    return reading


def bureau_night(options, folder):
    salt = options.night / "anchor.salt"
    command = [options.bureau, "run", "--threads", options.threads, "--export", options.night, "--salt-file", salt]
    return run([*command, "--as-of", options.as_of, "--out", folder / "night", "--throwaway-key", "--json"])


def plain_night(options, folder):
    command = [sys.executable, PLAIN_NIGHT, options.night, "--as-of", options.as_of, "--threads", options.threads]
    return run([*command, "--out", folder / "plain", "--against", folder / "night" / "warehouse", "--json"])


def in_turn(options, contestants):
    """The readings of each contestant, by name: a round after the other, each round in a fresh folder."""
    readings = {name: [] for name in contestants}
    for _ in range(options.rounds):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="side-by-side-", dir=options.work))
        try:
            for name, measure in contestants.items():
                # Nobody waits for what another has written: only one of them syncs its own.
                os.sync()
                readings[name].append(measure(folder))
        finally:
            shutil.rmtree(folder)
    return readings


def medians(readings, member):
    return statistics.median(getattr(reading, member) for reading in readings)


def spread(readings, digits=2):
    """All wall times in the order of the rounds."""
    return ", ".join(f"{reading.wall:.{digits}f}" for reading in readings)


def table(readings, entries, ours):
    """One line a contestant; ratios are to `ours`."""
    columns = ("wall, median", "all readings", f"of {ours}", "entries a second", "processor", "peak memory")
    print(f"| {entries:,} entries | " + " | ".join(columns) + " |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    base = medians(readings[ours], "wall")
    for name, runs in readings.items():
        wall, processor = medians(runs, "wall"), medians(runs, "processor")
        peaks = [reading.peak_mib for reading in runs]
        peak = " to ".join(dict.fromkeys(f"{mib:,.0f}" for mib in (min(peaks), max(peaks)))) + " MiB"
        cells = (name, f"{wall:.2f} s", f"{spread(runs)} s", f"{wall / base:.2f}", f"{entries / wall:,.0f}")
        print("| " + " | ".join((*cells, f"{processor:.1f} s", peak)) + " |")
    print()


def stages(bureau, plain):
    """The medians of each stage of the two nights."""
    ours = [json.loads(reading.output)["seconds"] for reading in bureau]
    theirs = [json.loads(reading.output)["seconds"] for reading in plain]
    print("| stage, median | `bureau run` | plain Python | plain Python of `bureau run` |")
    print("| --- | --- | --- | --- |")
    for label, our, their in STAGES:
        mine = statistics.median(seconds[our] for seconds in ours)
        other = statistics.median(seconds[their] for seconds in theirs) if their else None
        print(f"| {label} | {mine:.2f} s | " + (f"{other:.2f} s | {other / mine:.1f} |" if their else "none | |"))
    print()


def read_once(*folders):
    """Brings the files into the system's cache."""
    for folder in filter(None, folders):
        for path in folder.rglob("*"):
            if path.is_file():
                path.read_bytes()


def compare_loads(options):
    contestants = {
        "`bureau load`, chain checked": lambda folder: bureau_load(options, folder),
        "DuckDB, fixed schema": lambda folder: duckdb_load(options, folder, "fixed"),
        "DuckDB, `sample_size=-1`": lambda folder: duckdb_load(options, folder, "typed"),
    }
    readings = in_turn(options, contestants)
    ours = next(iter(readings))
    table(readings, json.loads(readings[ours][0].output)["entries"], ours)


def compare_nights(options):
    contestants = {
        "`bureau run`": lambda folder: bureau_night(options, folder),
        "plain Python": lambda folder: plain_night(options, folder),
    }
    readings = in_turn(options, contestants)
    table(readings, json.loads(readings["plain Python"][0].output)["entries"], "`bureau run`")
    stages(readings["`bureau run`"], readings["plain Python"])


def executable(text):
    """A command as it can be run from here."""
    found = shutil.which(text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no command")
    return found


def arguments():
    parser = argparse.ArgumentParser(description="Measures the bureau beside DuckDB, and beside a plain Python night.")
    parser.add_argument("--bureau", type=executable, required=True, help="the command to measure")
    parser.add_argument("--export", type=pathlib.Path, required=True, help="an export that benches/generate made")
    parser.add_argument("--work", type=pathlib.Path, required=True, help="a folder for what the runs write")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--night", type=pathlib.Path, help="a smaller export, for whole nights")
    parser.add_argument("--as-of", default="2026-11-30T00:00:00Z", help="the instant that the nights report for")
    return parser.parse_args()


def main():
    options = arguments()
    options.work.mkdir(parents=True, exist_ok=True)
    read_once(options.export, options.night)
    print(f"{options.threads} threads, {options.rounds} rounds in turn.\n")
    compare_loads(options)
    if options.night:
        compare_nights(options)


if __name__ == "__main__":
    main()
