//! The published vectors, each alone and among thousands of good signatures.

use serde_json::Value;

use super::adversary::GOOD;
use super::{Item, Key, verify_all, verify_strict};

struct Case {
    name: String,
    key: Vec<u8>,
    message: Vec<u8>,
    signature: Vec<u8>,
    valid: bool,
}

fn hex(value: &Value) -> Vec<u8> {
    let text = value.as_str().unwrap();
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).unwrap()).collect()
}

fn read(name: &str) -> Value {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/ed25519").join(name);
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn wycheproof() -> Vec<Case> {
    let file = read("wycheproof_ed25519_test.json");
    let groups = file["testGroups"].as_array().unwrap();
    let cases: Vec<Case> = groups
        .iter()
        .flat_map(|group| {
            group["tests"].as_array().unwrap().iter().map(|test| Case {
                name: format!("wycheproof {}: {}", test["tcId"], test["comment"]),
                key: hex(&group["publicKey"]["pk"]),
                message: hex(&test["msg"]),
                signature: hex(&test["sig"]),
                valid: test["result"] == "valid",
            })
        })
        .collect();
    assert_eq!(cases.len() as u64, file["numberOfTests"].as_u64().unwrap());
    cases
}

/// Of the twelve only the fourth (number 3) is a strict signature: torsion in A and in R, which cancels. Numbers 0 to 2
/// have an A or R of small order, 4 and 5 hold with the cofactor only, 6 and 7 have S ≥ L, 8 to 11 unreduced encodings.
fn speccheck() -> Vec<Case> {
    let file = read("speccheck_cases.json");
    let cases: Vec<Case> = file
        .as_array()
        .unwrap()
        .iter()
        .enumerate()
        .map(|(i, case)| Case {
            name: format!("speccheck {i}"),
            key: hex(&case["pub_key"]),
            message: hex(&case["message"]),
            signature: hex(&case["signature"]),
            valid: i == 3,
        })
        .collect();
    assert_eq!(cases.len(), 12);
    cases
}

/// What can be put into a batch at all: a key that is one, and a signature of 64 bytes.
fn decoded(case: &Case) -> Option<(Key, [u8; 64])> {
    let key = Key::from_bytes(case.key.as_slice().try_into().ok()?).ok()?;
    Some((key, case.signature.as_slice().try_into().ok()?))
}

#[test]
fn alone() {
    for case in wycheproof().iter().chain(&speccheck()) {
        let Some((key, signature)) = decoded(case) else {
            assert!(!case.valid, "{}", case.name);
            continue;
        };
        assert_eq!(verify_strict(&key, &case.message, &signature), case.valid, "{}", case.name);
        let item = Item { key: &key, signature: &signature, message: &case.message };
        assert_eq!(verify_all(&[item]), [case.valid], "{}", case.name);
    }
}

#[test]
fn each_among_good_ones() {
    let good = &GOOD[..600];
    for (i, case) in wycheproof().iter().chain(&speccheck()).enumerate() {
        let Some((key, signature)) = decoded(case) else {
            continue;
        };
        let mut items: Vec<Item<'_>> = good.iter().map(|signed| signed.item()).collect();
        let place = i * 37 % 600;
        items[place] = Item { key: &key, signature: &signature, message: &case.message };
        for (at, verdict) in verify_all(&items).into_iter().enumerate() {
            assert_eq!(verdict, at != place || case.valid, "{} at {at}", case.name);
        }
    }
}

#[test]
fn all_among_thousands() {
    let cases: Vec<Case> = wycheproof().into_iter().chain(speccheck()).collect();
    let decoded: Vec<_> = cases.iter().filter_map(|case| Some((case, decoded(case)?))).collect();
    let mut items: Vec<(Item<'_>, bool)> = GOOD.iter().map(|signed| (signed.item(), true)).collect();
    for (i, (case, (key, signature))) in decoded.iter().enumerate() {
        items.insert(i * 23, (Item { key, signature, message: &case.message }, case.valid));
    }
    let (items, valid): (Vec<_>, Vec<_>) = items.into_iter().unzip();
    assert_eq!(verify_all(&items), valid);
}
