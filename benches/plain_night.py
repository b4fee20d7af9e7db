#!/usr/bin/env python3
"""plain_night.py EXPORT [--as-of INSTANT] [--salt-file FILE] [--threads 2] [--out DIR] [--against WAREHOUSE] [--json]

The night as a capable person writes it in plain Python, without a line of the bureau's code: the yardstick for
`bureau run`. Needs rfc8785, zstandard, cryptography, pyarrow and duckdb from pip, and Python 3.11. It reads an export
that `benches/generate` made, checks the chain and every signature, types the entries into tables, derives what the
queries read beside them, and runs queries/*.sql in DuckDB. With --out it leaves every table and result there as
Parquet. It prints the seconds of each stage, entries a second and the peak memory. It ends with 1 where a hash, a
link or a signature does not hold, and, with --against, where the pools (events, sum of w, sum of w * v) are not those
of WAREHOUSE/derived/pool.parquet, which a `bureau run` of the same export and instant left.

    load         lines, JSON, RFC 8785, SHA-256, the chain, typed columns, identities, reporters and policy
    signatures   every signature of the profile's part 1.4, with the key bound at the signed instant
    figures      the input tables, all queries, what the run adds between them, and with --out the Parquet

What is simpler than in the bureau, always in this file's favour: of the audit there are only the chain, the
signatures and the keys' times (a generated export has no error finding, so `finding` and `withheld` are empty);
Ed25519 is OpenSSL's, which is not strict about small orders; duplicate member names are not looked for, and canonical
bytes are not kept; no document is made, signed or published. Everything but DuckDB runs on one thread; two processes
would at best halve `load` and `signatures`.
"""

import argparse
import base64
import contextlib
import datetime
import decimal
import functools
import graphlib
import gzip
import hashlib
import io
import itertools
import json
import math
import pathlib
import re
import resource
import time
import tomllib

import duckdb
import pyarrow as pa
import pyarrow.parquet
import rfc8785
import zstandard
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

QUERIES = pathlib.Path(__file__).resolve().parent.parent / "queries"
CHUNK = 10_000
DAY_MS = 86_400_000
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
MILLISECOND = datetime.timedelta(milliseconds=1)
NO_HASH = base64.b64encode(bytes(32)).decode()
DEFAULTS = {
    "half_life_days": 60, "unproven_threshold": 20, "value_weight": decimal.Decimal("0.5"), "portfolio_prior": False,
    "evaluator_min_volume": 3, "cooling_off_days": 30, "window_days": 90, "sender_threshold": 3,
    "claim_open_days": 365, "claim_record_days": 1825,
}  # fmt: skip

# Columns: those that the queries read.
TEXT, INT, BOOL, TEXTS = pa.string(), pa.int64(), pa.bool_(), pa.list_(pa.string())
INSTANT = pa.timestamp("ms", tz="UTC")
PROMISE = pa.struct({"id": TEXT, "class": TEXT, "text": TEXT, "kind": TEXT, "bound": pa.float64()})
CHECK = pa.struct({"promise_id": TEXT, "held": BOOL})
EVERY = {"seq": INT, "at": INSTANT, "subject": TEXT, "capability": TEXT}
DECLARED = {"statement_at": INSTANT, "capabilities": TEXTS, "promises": pa.list_(PROMISE)}
ACTIONS = {
    "enrolled": DECLARED,
    "amended": DECLARED,
    "withdrew": {"statement_at": INSTANT},
    "fact": {
        "interaction_id": TEXT, "caller_anchor_hash": TEXT, "started_at": INSTANT, "ended_at": INSTANT,
        "transport": TEXT, "latency_ms": INT, "promise_checks": pa.list_(CHECK), "derived_outcome": TEXT,
        "derived_from": TEXT, "sender": TEXT, "screening": pa.struct({"verdict": TEXT, "provider": TEXT}),
    },
    "attested": {
        "interaction_id": TEXT, "evaluator": TEXT, "evaluator_anchor_hash": TEXT, "outcome": TEXT,
        "statement_at": INSTANT, "amount": TEXT,
    },
    "probed": {"interaction_id": TEXT, "result": TEXT, "ended_at": INSTANT},
    "stopped": {
        "interaction_id": TEXT, "class": TEXT, "decided_by": TEXT, "resolution": TEXT, "recipient_anchor_hash": TEXT,
        "recipient_operator_hash": TEXT, "solicited": BOOL, "screening_provider": pa.struct({"id": TEXT}),
        "stopped_at": INSTANT,
    },
    "nda_claimed": {
        "claim_digest": TEXT, "claimant_anchor_hash": TEXT, "state": TEXT, "agreement": pa.struct({"direction": TEXT}),
        "respondent_org": TEXT, "nda_digest": TEXT, "claimant": TEXT, "categories": TEXTS,
    },
    "nda_answered": {"claim_digest": TEXT, "statement_at": INSTANT},
    "nda_resolved": {"claim_digest": TEXT, "resolution": TEXT, "basis": TEXT, "resolved_at": INSTANT},
    "excluded": {"target_seq": INT, "reason": TEXT, "evaluator": TEXT, "interaction_id": TEXT},
    "corrected": {
        "target_seq": INT, "kind": TEXT, "set_subject": TEXT, "set_capability": TEXT, "set_interaction_id": TEXT,
        "set_capability_null": BOOL,
    },
}  # fmt: skip
SCHEMAS = {name: pa.schema(EVERY | columns) for name, columns in ACTIONS.items()}
SCHEMAS["ledger"] = pa.schema({"seq": INT, "at": INSTANT, "action": TEXT, "entry_hash": TEXT})
FINDING = pa.schema({"seq": INT, "rule": TEXT, "severity": TEXT, "message": TEXT})
WITHHELD = pa.schema({"seq": INT})


# Reading.


class Clock:
    """Seconds a stage, in laps."""

    def __init__(self):
        self.seconds = {}

    @contextlib.contextmanager
    def lap(self, stage):
        begun = time.perf_counter()
        yield
        self.seconds[stage] = self.seconds.get(stage, 0) + time.perf_counter() - begun


@functools.lru_cache(1 << 16)
def millis(text):
    """An RFC 3339 instant in milliseconds since 1970, cut; none for none."""
    return None if text is None else (datetime.datetime.fromisoformat(text) - EPOCH) // MILLISECOND


def opened(path):
    """The lines of a file, whatever it is compressed with."""
    file = path.open("rb")
    if path.suffix == ".zst":
        file = zstandard.ZstdDecompressor().stream_reader(file, read_across_frames=True)
    elif path.suffix == ".gz":
        file = gzip.GzipFile(fileobj=file)
    return io.TextIOWrapper(io.BufferedReader(file), encoding="utf-8", newline="\n")


def lines(paths):
    for path in paths:
        with opened(path) as file:
            yield from (line for line in file if line.strip())


def records(export, stem):
    """The objects of a .jsonl file beside the ledger, or none where there is no such file."""
    return [json.loads(line) for line in lines(sorted(export.glob(f"{stem}.jsonl*")))]


def read_policy(export):
    return DEFAULTS | tomllib.loads((export / "policy.toml").read_text(), parse_float=decimal.Decimal)


class Chain:
    """Checks seq, link and hash of each entry in turn."""

    def __init__(self):
        self.seq, self.head = 0, NO_HASH

    def check(self, entry):
        body = {name: value for name, value in entry.items() if name not in ("prev_hash", "entry_hash")}
        digest = hashlib.sha256(rfc8785.dumps(body) + entry["prev_hash"].encode()).digest()
        if entry["seq"] != self.seq + 1 or entry["prev_hash"] != self.head:
            raise SystemExit(f"seq {entry['seq']}: does not follow seq {self.seq}")
        if base64.b64encode(digest).decode() != entry["entry_hash"]:
            raise SystemExit(f"seq {entry['seq']}: its hash does not recompute")
        self.seq, self.head = entry["seq"], entry["entry_hash"]


def members(entry):
    """The detail of an entry, with what its table takes from deeper down under the names of the columns."""
    detail, action = entry["detail"], entry["action"]
    if action == "stopped":
        return detail | {"stopped_at": detail["at"]}
    if action == "nda_claimed":
        claim = detail["claim"]
        names = {"claimant": claim["claimant"]["handle"], "nda_digest": claim["nda"]["digest"]}
        return detail | names | {"categories": claim["categories"]}
    if action == "corrected":
        new = detail.get("set") or {}
        null = "capability" in new and new["capability"] is None
        return detail | {f"set_{name}": value for name, value in new.items()} | {"set_capability_null": null}
    return detail


class Tables:
    """Entries as typed columns, in batches."""

    def __init__(self):
        self.batches = {name: [] for name in SCHEMAS}
        self.clear()

    def clear(self):
        self.columns = {name: [(f.name, f.type == INSTANT, []) for f in schema] for name, schema in SCHEMAS.items()}

    def add(self, entry):
        every = {"seq": entry["seq"], "at": entry["at"], "subject": entry["subject"]}
        self.put("ledger", every | {"action": entry["action"], "entry_hash": entry["entry_hash"]})
        if entry["action"] in ACTIONS:
            self.put(entry["action"], members(entry) | every | {"capability": entry.get("capability")})

    def put(self, table, row):
        for name, is_instant, values in self.columns[table]:
            value = row.get(name)
            values.append(millis(value) if is_instant else value)

    def flush(self):
        for name, columns in self.columns.items():
            arrays = [pa.array(values, SCHEMAS[name].field(column).type) for column, _, values in columns]
            self.batches[name].append(pa.record_batch(arrays, schema=SCHEMAS[name]))
        self.clear()

    def finish(self):
        return {name: pa.Table.from_batches(self.batches.pop(name), schema) for name, schema in SCHEMAS.items()}


# Signatures.


def within(period, at):
    """Whether an instant lies in [from, to)."""
    return period[0] <= at and (period[1] is None or at < period[1])


def periods(items):
    return [(item["key"], (millis(item["from"]), millis(item.get("to")))) for item in items or []]


class Book:
    """Which keys may have signed."""

    def __init__(self, identities, reporters):
        self.people = {i["handle"]: i for i in identities}
        self.bound = {i["handle"]: (millis(i["bound_at"]), millis(i.get("unbound_at"))) for i in identities}
        self.agents = {i["handle"]: periods(i["keys"]) for i in identities}
        self.owners = {i["handle"]: periods(i.get("owner_keys")) for i in identities}
        self.reporters = {r["reporter"]: periods(r["keys"]) for r in reporters}
        self.claimants = {}

    def agent(self, handle, key, instant, owners=False):
        """The key, where it was bound to the handle."""
        at = millis(instant)
        keys = self.agents.get(handle, []) + (self.owners.get(handle, []) if owners else [])
        is_bound = handle in self.bound and within(self.bound[handle], at)
        return [key] if is_bound and any(k == key and within(p, at) for k, p in keys) else []

    def reporter(self, name, instant):
        """The keys of a reporter in force."""
        at = millis(instant)
        return [key for key, period in self.reporters.get(name, []) if within(period, at)]


def document(tag, body):
    return tag.encode() + b"\n" + rfc8785.dumps(body)


def attestation_line(entry):
    detail = entry["detail"]
    fields = [detail["interaction_id"], entry["subject"], entry.get("capability") or "", detail["outcome"]]
    if detail["outcome"] in ("VALUE_OK", "VALUE_POOR"):
        fields = ["fdbk-value-v1", *fields, *(detail.get(name) or "" for name in ("amount", "currency", "units"))]
    else:
        fields = ["fdbk-attest-v1", *fields]
    return ":".join([*fields, detail["statement_at"]]).encode()


def own_statement(entry, book, bureau):
    """The statement of an enrollment, an amendment or a withdrawal."""
    detail, subject = entry["detail"], entry["subject"]
    tag = "fdbk-withdraw-v1" if entry["action"] == "withdrew" else "fdbk-enroll-v1"
    line = f"{tag}:{subject}:{bureau}:{detail['statement_at']}".encode()
    yield book.agent(subject, detail["key"], detail["statement_at"]), detail["signature"], line


def reporter_statements(entry, book):
    """Those of a fact, a probe or a stop, the sender's own included."""
    detail, subject = entry["detail"], entry["subject"]
    tag = {"fact": "fdbk-fact-v1", "probed": "fdbk-probe-v1", "stopped": "fdbk-stop-v1"}[entry["action"]]
    signed = {name: value for name, value in detail.items() if name != "signature"}
    body = {"capability": entry.get("capability"), "detail": signed, "subject": subject}
    yield book.reporter(detail["reporter"], entry["at"]), detail["signature"], document(tag, body)
    if entry["action"] == "stopped":
        digest = bytes.fromhex(detail["envelope_digest"].removeprefix("sha256:"))
        yield book.agent(subject, detail["sender_key"], entry["at"]), detail["sender_signature"], digest


def claim_statement(entry, book):
    detail = entry["detail"]
    claim, claimant = detail["claim"], detail["claim"]["claimant"]
    digest = "sha256:" + hashlib.sha256(rfc8785.dumps(claim)).hexdigest()
    book.claimants[digest] = claimant["handle"]
    if detail["state"] == "rejected":
        return
    if digest != detail["claim_digest"]:
        raise SystemExit(f"seq {entry['seq']}: its claim digest does not recompute")
    keys = book.agent(claimant["handle"], claimant["agent"], claim["at"])
    yield keys, detail["signature"], document("fdbk-nda-claim-v1", claim)


def reply_statement(entry, book):
    """That of an answer, an acknowledgment or a withdrawn claim; other resolutions have none."""
    detail, subject = entry["detail"], entry["subject"]
    if detail.get("signature") is None:
        return
    body = {"claim": detail["claim_digest"], "statement_at": detail["statement_at"]}
    tag, signer, owners = "fdbk-nda-ack-v1", subject, True
    if entry["action"] == "nda_answered":
        tag, body = "fdbk-nda-answer-v1", body | {"text": detail["text"]}
    elif detail["resolution"] == "withdrawn":
        tag, signer, owners = "fdbk-nda-withdraw-v1", book.claimants.get(detail["claim_digest"]), False
    keys = book.agent(signer, detail["key"], detail["statement_at"], owners)
    yield keys, detail["signature"], document(tag, body)


def statements(entry, book, bureau):
    """For each signature of an entry: the keys that may have made it, the signature, the message."""
    action, detail = entry["action"], entry["detail"]
    if action in ("fact", "probed", "stopped"):
        yield from reporter_statements(entry, book)
    elif action == "attested":
        keys = book.agent(detail["evaluator"], detail["key"], detail["statement_at"])
        yield keys, detail["signature"], attestation_line(entry)
    elif action in ("enrolled", "amended", "withdrew"):
        yield from own_statement(entry, book, bureau)
    elif action == "nda_claimed":
        yield from claim_statement(entry, book)
    elif action in ("nda_answered", "nda_resolved"):
        yield from reply_statement(entry, book)


@functools.lru_cache(None)
def public_key(key):
    return Ed25519PublicKey.from_public_bytes(base64.b64decode(key))


def verifies(key, signature, message):
    try:
        public_key(key).verify(base64.b64decode(signature), message)
    except InvalidSignature:
        return False
    return True


def check_signatures(entry, book, bureau):
    """Verifies every signature of an entry and returns how many there are."""
    count = 0
    for keys, signature, message in statements(entry, book, bureau):
        count += 1
        if not any(verifies(key, signature, message) for key in keys):
            raise SystemExit(f"seq {entry['seq']}: a signature does not hold, or no key was bound")
    return count


# Who is who.


class Sets:
    """Disjoint sets."""

    def __init__(self):
        self.parents = {}

    def root(self, name):
        self.parents.setdefault(name, name)
        while self.parents[name] != name:
            self.parents[name] = self.parents[self.parents[name]]
            name = self.parents[name]
        return name

    def unite(self, a, b):
        self.parents[self.root(a)] = self.root(b)


def salted(salt, name):
    return "sha256:" + hashlib.sha256(salt + b":" + name.lower().encode()).hexdigest()


def parties_at(identities, as_of):
    """The party, a number, of every anchor and operator of a line bound by then."""
    sets, numbers = Sets(), {}
    bound = [i for i in identities if millis(i["bound_at"]) <= as_of]
    for i in bound:
        sets.unite(i["anchor"], i.get("operator") or i["anchor"])
    for anchor in sorted({i["anchor"] for i in bound}):
        numbers.setdefault(sets.root(anchor), len(numbers) + 1)
    return {name: numbers[sets.root(name)] for name in sets.parents}


def identity_tables(identities, parties, salt, as_of):
    rows = []
    for i in identities:
        bound_at = millis(i["bound_at"])
        names = {"handle": i["handle"], "anchor": i["anchor"], "anchor_hash": salted(salt, i["anchor"])}
        party = parties[i["anchor"]] if bound_at <= as_of else None
        rows.append(names | {"bound_at": bound_at, "unbound_at": millis(i.get("unbound_at")), "party": party})
    columns = {"handle": TEXT, "anchor": TEXT, "anchor_hash": TEXT}
    columns |= {"bound_at": INSTANT, "unbound_at": INSTANT, "party": INT}
    hashed = [{"anchor_hash": salted(salt, name), "party": party} for name, party in parties.items()]
    anchor_party = pa.Table.from_pylist(hashed, pa.schema({"anchor_hash": TEXT, "party": INT}))
    return {"identity": pa.Table.from_pylist(rows, pa.schema(columns)), "anchor_party": anchor_party}


def span(item, start="from", end="to"):
    return millis(item[start]), millis(item.get(end))


def proven(charter, at):
    return any(within(span(proof), at) for proof in charter["domain_proof"])


def email_charter(person, charters):
    """The charter of the domain that an email anchor is at, or none."""
    return charters.get(person["anchor"].rsplit("@", 1)[1]) if person["anchor_kind"] == "email" else None


def mandates_of(person, mandates):
    return mandates.get(person.get("owner_account") or person["anchor"], [])


def memberships(person, charters, mandates, at):
    """Basis and since when, by organization, of a handle at an instant."""
    bound = span(person, "bound_at", "unbound_at")
    if not within(bound, at):
        return {}
    found = {person["anchor"]: ("anchor", bound[0])}
    charter = email_charter(person, charters)
    if charter and proven(charter, at):
        found[charter["domain"]] = ("anchor", bound[0])
    for domain, period in mandates_of(person, mandates):
        basis, since = found.get(domain, ("mandate", period[0]))
        if within(period, at) and basis == "mandate":
            found[domain] = ("mandate", min(since, period[0]))
    return found


def leavings(person, charters, mandates):
    """Organization, when and on what basis, of each time that a handle left one."""
    bound = span(person, "bound_at", "unbound_at")
    if bound[1] is not None and bound[0] < bound[1]:
        yield person["anchor"], bound[1], "anchor"
        charter = email_charter(person, charters)
        if charter and proven(charter, bound[1] - 1):
            yield charter["domain"], bound[1], "anchor"
    for domain, period in mandates_of(person, mandates):
        ends = [end for end in (period[1], bound[1]) if end is not None]
        if ends and max(bound[0], period[0]) < min(ends):
            yield domain, min(ends), "mandate"


def membership_rows(identities, charters, windows):
    """The rows of `membership` and of `former_membership`."""
    mandates = {}
    for charter in charters.values():
        for mandate in charter["mandates"]:
            mandates.setdefault(mandate["account"], []).append((charter["domain"], span(mandate)))
    members, former = {}, {}
    for person in identities:
        for organization, found in memberships(person, charters, mandates, windows["as_of"]).items():
            members[organization, person["handle"]] = found
        for organization, left_at, basis in leavings(person, charters, mandates):
            key, better = (organization, person["handle"]), (left_at, basis == "anchor")
            if windows["window_from"] < left_at <= windows["as_of"] and former.get(key, better) <= better:
                former[key] = better
    left = {key: value for key, value in former.items() if key not in members}
    return (
        [(*key, *found) for key, found in members.items()],
        [(*key, "anchor" if by_anchor else "mandate", left_at) for key, (left_at, by_anchor) in left.items()],
    )


def organization_rows(identities, charters, as_of):
    kinds = {i["anchor"]: i["anchor_kind"] for i in identities} | dict.fromkeys(charters, "domain")
    for anchor, kind in kinds.items():
        charter = charters.get(anchor)
        proof = charter and ("current" if proven(charter, as_of) else "lapsed")
        yield anchor, kind, charter and charter["id"], proof


def of_rows(columns, rows):
    """A table of tuples."""
    return pa.Table.from_pylist([dict(zip(columns, row)) for row in rows], pa.schema(columns))


def organization_tables(identities, charters, windows):
    charters = {charter["domain"]: charter for charter in charters}
    members, former = membership_rows(identities, charters, windows)
    key = {"organization": TEXT, "subject": TEXT, "basis": TEXT}
    columns = {"anchor": TEXT, "anchor_kind": TEXT, "charter_id": TEXT, "domain_proof": TEXT}
    return {
        "membership": of_rows(key | {"member_since": INSTANT}, members),
        "former_membership": of_rows(key | {"left_at": INSTANT}, former),
        "organization": of_rows(columns, organization_rows(identities, charters, windows["as_of"])),
    }


def refusing_parties(links, anchors, parties, salt):
    """The rows of `refusing_party`: recipients that share an operator, or whose parties are known, are one."""
    sets = Sets()
    for name, party in parties.items():
        sets.unite(salted(salt, name), party)
    for recipient, operator in links:
        sets.unite(recipient, operator or recipient)
    numbers = {}
    hashes = sorted({salted(salt, anchor) for anchor in anchors} | {recipient for recipient, _ in links})
    return [(h, numbers.setdefault(sets.root(h), len(numbers) + 1)) for h in hashes]


# Figures.


def windows_at(policy, as_of):
    """The borders that the queries compare with; days need not be whole, and each is cut its way."""

    def days(name):
        return decimal.Decimal(policy[name]) * DAY_MS

    return {
        "as_of": as_of,
        "window_from": as_of - math.ceil(days("window_days")),
        "cooling_from": as_of - math.ceil(days("cooling_off_days")),
        "claim_open_from": as_of - math.floor(days("claim_open_days")),
        "claim_record_from": as_of - math.ceil(days("claim_record_days")),
    }


def policy_table(policy, windows):
    place = decimal.Decimal(1).scaleb(-15)
    threshold = decimal.Decimal(policy["unproven_threshold"]).quantize(place, decimal.ROUND_CEILING)
    row = windows | {name: policy[name] for name in ("evaluator_min_volume", "sender_threshold", "portfolio_prior")}
    columns = dict.fromkeys(windows, INSTANT) | {"unproven_threshold": pa.decimal128(38, 15)}
    columns |= {"evaluator_min_volume": INT, "sender_threshold": INT, "portfolio_prior": BOOL}
    return pa.Table.from_pylist([row | {"unproven_threshold": threshold}], pa.schema(columns))


class Weigher:
    """K * 2^(-age / half-life), rounded half away from zero to 15 places.

    40 digits leave 24 behind the last place; a power that is no whole one is irrational, so it lies on no border, and
    whole ones are exact where they do not round to 0.
    """

    def __init__(self, policy):
        self.context = decimal.Context(prec=40, rounding=decimal.ROUND_HALF_UP)
        self.half_life = self.context.multiply(decimal.Decimal(policy["half_life_days"]), DAY_MS)
        self.ln2 = self.context.ln(decimal.Decimal(2))
        self.factors = {"value": decimal.Decimal(policy["value_weight"])}
        self.place = decimal.Decimal(1).scaleb(-15)

    def power(self, age):
        halvings = self.context.divide(decimal.Decimal(age), self.half_life)
        if halvings == halvings.to_integral_value():
            return self.context.divide(decimal.Decimal(1), 1 << int(halvings))
        return self.context.exp(self.context.multiply(-halvings, self.ln2))

    def weight(self, age, kind):
        weight = self.context.multiply(self.factors.get(kind, decimal.Decimal(1)), self.power(max(0, age)))
        return self.context.quantize(weight, self.place)


def tables_of(sql):
    """The names that a query reads."""
    code = re.sub(r"--[^\n]*", "", sql)
    return set(re.findall(r"\b(?:from|join)\s+([a-z_]+)", code))


def in_order(queries):
    """The names of queries, each after those that it reads."""
    graph = {}
    for name, sql in queries.items():
        reads = tables_of(sql)
        made_of = {source for source, table in (("stop_link", "refusing_party"), ("pool", "pool_mean")) if table in reads}
        graph[name] = sorted((reads & set(queries) | made_of) - {name})
    return list(graphlib.TopologicalSorter(graph).static_order())


def keep(connection, name, table):
    """Makes a DuckDB table of an Arrow one."""
    connection.register(f"arrow_{name}", table)
    connection.execute(f"create table {name} as from arrow_{name}")
    connection.unregister(f"arrow_{name}")


def pool_means(pools):
    """The rows of `pool_mean` under the uniform prior."""
    place = decimal.Decimal(1).scaleb(-6)
    for subject, capability, sum_w, sum_wv in pools:
        yield subject, capability, ((1 + sum_wv) / (2 + sum_w)).quantize(place, decimal.ROUND_HALF_UP)


def run_queries(connection, night):
    """Runs every query, with what the run adds between them."""
    queries = {path.stem: path.read_text() for path in QUERIES.glob("*.sql")}
    for name in in_order(queries):
        if name == "event":
            keep(connection, name, night.weighed(connection.sql(queries[name]).to_arrow_table()))
            continue
        connection.execute(f"create table {name} as {queries[name]}")
        if name == "enrollment_interval":
            cooling = f"to_milliseconds({night.windows['as_of'] - night.windows['cooling_from']})"
            connection.execute(f"alter table {name} add column takes_effect_at timestamptz")
            connection.execute(
                f"update {name} set takes_effect_at = withdrew_at + {cooling}"
                f" where next_enrolled_at is null or next_enrolled_at >= withdrew_at + {cooling}"
            )
        if name == "stop_link":
            rows = night.refusing(connection.sql(f"from {name}").fetchall())
            keep(connection, "refusing_party", of_rows({"anchor_hash": TEXT, "party_key": INT}, rows))
        if name == "pool":
            rows = pool_means(connection.sql("select subject, capability, sum_w, sum_wv from pool").fetchall())
            columns = {"subject": TEXT, "capability": TEXT, "mean": pa.decimal128(7, 6)}
            keep(connection, "pool_mean", of_rows(columns, rows))
    return list(queries)


class Night:
    """What is known beside the ledger."""

    def __init__(self, export, salt, as_of):
        self.policy, self.salt = read_policy(export), salt
        self.identities, self.charters = records(export, "identities"), records(export, "charters")
        self.book = Book(self.identities, records(export, "reporters"))
        self.windows = windows_at(self.policy, as_of)
        self.parties = {}

    def inputs(self):
        """The tables that the queries read beside the ledger's."""
        as_of = self.windows["as_of"]
        self.parties = parties_at(self.identities, as_of)
        tables = {"policy": policy_table(self.policy, self.windows)}
        tables |= {"finding": FINDING.empty_table(), "withheld": WITHHELD.empty_table()}
        tables |= identity_tables(self.identities, self.parties, self.salt, as_of)
        return tables | organization_tables(self.identities, self.charters, self.windows)

    def refusing(self, links):
        as_of = self.windows["as_of"]
        anchors = {i["anchor"] for i in self.identities if millis(i["bound_at"]) <= as_of}
        return refusing_parties(links, anchors, self.parties, self.salt)

    def weighed(self, events):
        """The events with their weights."""
        weigher, as_of = Weigher(self.policy), self.windows["as_of"]
        instants = events["t"].cast(INSTANT).cast(INT).to_pylist()
        weights = [weigher.weight(as_of - t, kind) for t, kind in zip(instants, events["kind"].to_pylist())]
        return events.append_column("weight", pa.array(weights, pa.decimal128(16, 15)))


# The night.


def read_ledger(export, night, clock):
    """The ledger's tables, how many entries there are, and how many signatures."""
    paths = sorted(export.glob("ledger/*.jsonl*")) or sorted(export.glob("ledger.jsonl*"))
    source, chain, tables, signatures = lines(paths), Chain(), Tables(), 0
    while True:
        with clock.lap("load"):
            entries = [json.loads(line) for line in itertools.islice(source, CHUNK)]
            for entry in entries:
                chain.check(entry)
                tables.add(entry)
            tables.flush()
        if not entries:
            return tables.finish(), chain.seq, signatures
        with clock.lap("signatures"):
            signatures += sum(check_signatures(entry, night.book, night.policy["bureau"]) for entry in entries)


def figures(connection, tables, night):
    """Makes every table and result. Returns the names of the results."""
    connection.execute("set timezone = 'UTC'")
    connection.execute("set enable_progress_bar = false")
    for name in list(tables):
        keep(connection, name, tables.pop(name))
    for name, table in night.inputs().items():
        keep(connection, name, table)
    return run_queries(connection, night)


def write(connection, folder):
    """Leaves every table and result as Parquet."""
    folder.mkdir(parents=True, exist_ok=True)
    for (name,) in connection.sql("select table_name from duckdb_tables()").fetchall():
        connection.execute(f"copy {name} to '{folder}/{name}.parquet' (format parquet, compression zstd)")


def differing(connection, warehouse):
    """How many rows of `pool` are not those of the warehouse, either way, and how many there are."""
    columns = "subject, capability, events, sum_w, sum_wv"
    ours, theirs = f"select {columns} from pool", f"select {columns} from '{warehouse}/derived/pool.parquet'"
    both = f"({ours} except all {theirs}) union all ({theirs} except all {ours})"
    return connection.sql(f"select (select count(*) from ({both})), (select count(*) from pool)").fetchall()[0]


def arguments():
    parser = argparse.ArgumentParser(description="A night in plain Python, to compare `bureau run` with.")
    parser.add_argument("export", type=pathlib.Path, help="an export that benches/generate made")
    parser.add_argument("--as-of", default="2026-11-30T00:00:00Z", help="the instant reported for")
    parser.add_argument("--salt-file", type=pathlib.Path, help="default: anchor.salt in the export")
    parser.add_argument("--threads", type=int, default=2, help="of DuckDB")
    parser.add_argument("--out", type=pathlib.Path, help="leave every table and result here, as Parquet")
    parser.add_argument("--against", type=pathlib.Path, metavar="WAREHOUSE", help="compare the pools with this one's")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    return parser.parse_args()


def summary(clock, entries, signatures):
    together = sum(clock.seconds.values())
    return {
        "entries": entries,
        "signatures": signatures,
        "seconds": {stage: round(seconds, 2) for stage, seconds in clock.seconds.items()},
        "together": round(together, 2),
        "entries_a_second": round(entries / together),
        "peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def show(result):
    for stage, seconds in result["seconds"].items():
        print(f"{stage:<12} {seconds:8.2f} s")
    print(f"{'together':<12} {result['together']:8.2f} s")
    print(f"{result['entries']} entries, {result['entries_a_second']} a second; {result['signatures']} signatures")
    print(f"peak memory  {result['peak_mib']} MiB")


def main():
    options, clock = arguments(), Clock()
    with clock.lap("load"):
        salt = (options.salt_file or options.export / "anchor.salt").read_bytes().removesuffix(b"\n")
        night = Night(options.export, salt, millis(options.as_of))
    tables, entries, signatures = read_ledger(options.export, night, clock)
    connection = duckdb.connect(config={"threads": options.threads})
    with clock.lap("figures"):
        figures(connection, tables, night)
        if options.out:
            write(connection, options.out)
    result = summary(clock, entries, signatures)
    if options.against:
        result["pools_differing"], result["pools"] = differing(connection, options.against)
    print(json.dumps(result)) if options.json else show(result)
    if options.against and not options.json:
        print(f"pools        {result['pools']}, {result['pools_differing'] or 'none'} differ from the warehouse's")
    raise SystemExit(1 if result.get("pools_differing") or result.get("pools") == 0 else 0)


if __name__ == "__main__":
    main()
