//! What must not be public is in no byte of a snapshot, Parquet and compressed files included (profile 3.1).

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::command::{Place, assert_success, files};

/// Strings of the ledger that stay private, by what they are.
fn private(ledger: &str) -> BTreeSet<(&'static str, String)> {
    let mut found = BTreeSet::new();
    let mut put = |what: &'static str, value: &Value| {
        if let Some(text) = value.as_str().filter(|text| text.len() > 5) {
            found.insert((what, text.to_owned()));
        }
    };
    for line in ledger.lines() {
        let entry: Value = serde_json::from_str(line).unwrap();
        let detail = &entry["detail"];
        put("an interaction id", &detail["interaction_id"]);
        put("a note", &detail["note"]);
        if entry["action"] == "attested" {
            put("a reason", &detail["reason"]);
        }
        put("a ground", &detail["ground"]);
        put("a signature", &detail["signature"]);
        put("an envelope digest", &detail["envelope_digest"]);
        if entry["action"] == "nda_answered" {
            put("an answer", &detail["text"]);
        }
        let claim = &detail["claim"];
        put("an agreement id", &claim["nda"]["id"]);
        put("an agreement digest", &claim["nda"]["digest"]);
        put("a claim digest", &detail["claim_digest"]);
        put("a claim's note", &claim["found"]["note"]);
        put("a material digest", &claim["found"]["material_digest"]);
        for disclosure in claim["disclosures"].as_array().into_iter().flatten() {
            put("a record", &disclosure["digest"]);
        }
    }
    found
}

/// Every text that the values of a Parquet file hold.
fn texts(bytes: Vec<u8>) -> String {
    use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), bytes).unwrap();
    let builder = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(file.path()).unwrap()).unwrap();
    let batches: Vec<_> = builder.build().unwrap().map(Result::unwrap).collect();
    batches
        .iter()
        .flat_map(|batch| {
            batch.columns().iter().flat_map(|column| {
                let format = arrow::util::display::FormatOptions::default();
                let shown = arrow::util::display::ArrayFormatter::try_new(column, &format).unwrap();
                (0..column.len()).map(|row| shown.value(row).to_string() + "\n").collect::<Vec<_>>()
            })
        })
        .collect()
}

#[test]
fn no_private_string_of_the_ledger_is_in_a_snapshot() {
    let place = Place::new("small");
    assert_success(&place.night("out", &[]));
    let ledger = fs::read_to_string(place.path("export/ledger.jsonl")).unwrap();
    let salt = fs::read_to_string(place.path("export/anchor.salt")).unwrap();
    let mut secrets = private(&ledger);
    assert!(secrets.len() > 5_000, "{}", secrets.len());
    secrets.insert(("the salt", salt.trim_end().to_owned()));
    let mut public = String::new();
    for (path, bytes) in files(&place.path("out/snapshots")) {
        let name = path.to_str().unwrap();
        if name.ends_with(".zst") {
            public += &String::from_utf8(zstd::decode_all(bytes.as_slice()).unwrap()).unwrap();
        } else if name.ends_with(".parquet") {
            public += &texts(bytes);
        } else {
            public += &String::from_utf8(bytes).unwrap();
        }
    }
    assert!(public.contains("sha256:"), "claimants' hashes are public");
    for (what, secret) in secrets {
        // A string that the published documents hold in another role proves nothing: promises and tags are public.
        assert!(!public.contains(&secret), "{what} is in the snapshot: {secret}");
    }
}

#[test]
fn neither_salt_nor_key_is_in_the_warehouse_or_in_what_a_run_says() {
    let place = Place::new("small");
    let output = place.night("out", &["--json"]);
    assert_success(&output);
    let salt = fs::read_to_string(place.path("export/anchor.salt")).unwrap();
    let pem = fs::read_to_string(place.path("key.pem")).unwrap();
    let key = pem.lines().nth(1).unwrap();
    let mut held = files(&place.path("out"));
    held.push(("stdout".into(), output.stdout));
    held.push(("stderr".into(), output.stderr));
    for (path, bytes) in held {
        for secret in [salt.trim_end(), key] {
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "{}", path.display());
        }
    }
}
