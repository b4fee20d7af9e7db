use super::*;
use crate::ledger::json::{Literals, Parser, parse};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/jcs")
}

/// The canonical form of a line, which is one object.
fn canonical(line: &[u8]) -> Vec<u8> {
    let owned = parse(line).unwrap();
    let mut out = Vec::new();
    write(owned.root(), &mut out);
    out
}

/// The canonical form of any value: that of an object around it, without the object.
fn canonical_value(value: &[u8]) -> Vec<u8> {
    let flat: Vec<u8> = value.iter().map(|b| if *b == b'\n' { b' ' } else { *b }).collect();
    let line = [b"{\"\":", flat.as_slice(), b"}"].concat();
    let out = canonical(&line);
    out[4..out.len() - 1].to_vec()
}

#[test]
fn the_published_documents_of_rfc_8785() {
    let mut seen = 0;
    for entry in fs::read_dir(vectors().join("input")).unwrap() {
        let path = entry.unwrap().path();
        let input = fs::read(&path).unwrap();
        let output = fs::read(vectors().join("output").join(path.file_name().unwrap())).unwrap();
        let hex = vectors().join("outhex").join(path.with_extension("txt").file_name().unwrap());
        let hex: Vec<u8> =
            fs::read_to_string(hex).unwrap().split_whitespace().map(|h| u8::from_str_radix(h, 16).unwrap()).collect();
        assert_eq!(canonical_value(&input), output, "{path:?}");
        assert_eq!(output, hex, "{path:?}");
        assert_eq!(to_vec(&serde_json::from_slice(&input).unwrap()), output, "{path:?}");
        seen += 1;
    }
    assert_eq!(seen, 6);
}

#[test]
fn forty_thousand_numbers_as_ecmascript_writes_them() {
    let table = fs::read_to_string(vectors().join("numbers-40k.csv")).unwrap();
    let mut seen = 0;
    for row in table.lines() {
        let (bits, want) = row.split_once(',').unwrap();
        let value = f64::from_bits(u64::from_str_radix(bits, 16).unwrap());
        // `{:e}` is the shortest literal that reads back as the same double.
        let out = canonical_value(format!("{value:e}").as_bytes());
        assert_eq!(String::from_utf8(out).unwrap(), want, "{bits}");
        assert_eq!(to_vec(&serde_json::json!(value)), want.as_bytes(), "{bits}");
        // What is written is read back from canonical bytes, and stays.
        let line = format!("{{\"a\":{want}}}");
        let mut parser = Parser::new(Literals::Canonical);
        let mut again = Vec::new();
        write(parser.parse(line.as_bytes()).unwrap().root(), &mut again);
        assert_eq!(again, line.as_bytes(), "{bits}");
        seen += 1;
    }
    assert_eq!(seen, 40_002);
}

#[test]
fn members_order_by_utf16_code_units() {
    let line = "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"a\":3,\"\":4,\"\u{e000}\":5,\"\u{d7ff}\":6,\"aa\":7,\"\u{1f600}a\":8,\"a\u{ffff}\":9,\"a\u{10000}\":10}";
    let want = "{\"\":4,\"a\":3,\"aa\":7,\"a\u{10000}\":10,\"a\u{ffff}\":9,\"\u{d7ff}\":6,\"\u{1f600}\":2,\"\u{1f600}a\":8,\"\u{e000}\":5,\"\u{fb33}\":1}";
    assert_eq!(String::from_utf8(canonical(line.as_bytes())).unwrap(), want);
}

#[test]
fn what_is_left_out_is_left_out_at_the_top_alone() {
    let line = br#"{ "prev_hash":"p","z":{"prev_hash":1},"entry_hash":"e","a":"\u0065" }"#;
    let owned = parse(line).unwrap();
    let mut out = b"kept ".to_vec();
    write_without(owned.root(), &["entry_hash", "prev_hash"], &mut out);
    assert_eq!(out, br#"kept {"a":"e","z":{"prev_hash":1}}"#);
    out.clear();
    write_without(owned.root(), &["prev_hash", "entry_hash", "a", "z"], &mut out);
    assert_eq!(out, b"{}");
}

#[test]
fn a_canonical_line_is_cut_as_any_other_is_written() {
    const NAMES: [&str; 2] = ["entry_hash", "prev_hash"];
    let written = |line: &str| {
        let mut out = b"kept ".to_vec();
        write_without(parse(line.as_bytes()).unwrap().root(), &NAMES, &mut out);
        String::from_utf8(out).unwrap()
    };
    for line in [
        r#"{}"#,
        r#"{"entry_hash":"e","prev_hash":"p"}"#,
        r#"{"a":1,"entry_hash":{"prev_hash":[]},"f":[1,"x"],"prev_hash":null,"z":true}"#,
        r#"{"a":{"prev_hash":"p"},"b":"text","entry_hash":"e"}"#,
        r#"{"entry_hash":7,"q":-5,"r":false}"#,
        r#"{"a":"\n","entry_hash":"e","prev_hash":"p"}"#,
        r#"{"a\"b":{"c":"\\"},"prev_hash":"p"}"#,
        r#"{"a":"plain","b":{"c":"\u001f"},"entry_hash":"\\","z":"é"}"#,
    ] {
        assert_eq!(canonical(line.as_bytes()), line.as_bytes());
        assert_eq!(written(line), written(&line.replacen('{', "{ ", 1)), "{line}");
    }
    assert_eq!(written(r#"{"a":1,"entry_hash":2,"f":3}"#), r#"kept {"a":1,"f":3}"#);
}

#[test]
fn absent_null_and_needless_spellings() {
    assert_ne!(canonical(b"{\"a\":null}"), canonical(b"{}"));
    let spellings: [&[u8]; 4] = [
        br#"{"k":"\/\u0041\u000A\u001F\u007f","n":[10,-0,1.0,1e21]}"#,
        b"{\"n\":[1e1,0,1,1000000000000000000000.0],\"k\":\"/A\\n\\u001f\x7f\"}",
        b"{ \"\\u006b\" : \"/A\\u000a\\u001f\x7f\" , \"n\" : [ 10.0 , -0.0 , 1 , 1E21 ] }",
        b"{\"k\":\"/A\\n\\u001f\x7f\",\"n\":[10,0,1,1e+21]}",
    ];
    for spelling in spellings {
        assert_eq!(canonical(spelling), spellings[3], "{}", String::from_utf8_lossy(spelling));
    }
}

#[test]
fn names_alike_in_their_first_eight_bytes_are_ordered_too() {
    for count in [2, 3, 20, 21, 500] {
        let head = ["", "abcdefgh", "abcdefg\u{e000}", "abcdefg\u{1f600}"];
        let name = |i: u32| format!("\"{}{:04}\":{i}", head[i as usize % 4], (i * 7919) % 10_000);
        let line = format!("{{{}}}", (0..count).map(name).collect::<Vec<_>>().join(","));
        let want = serde_json_canonicalizer::to_vec(&serde_json::from_str::<Value>(&line).unwrap()).unwrap();
        assert_eq!(canonical(line.as_bytes()), want);
    }
}

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<f64>().prop_filter("finite", |f| f.is_finite()).prop_map(Value::from),
        (-9_007_199_254_740_991i64..=9_007_199_254_740_991).prop_map(Value::from),
        (-1000i64..1000).prop_map(Value::from),
    ]
}

fn text() -> impl Strategy<Value = String> {
    let letter = prop_oneof![
        any::<char>(),
        proptest::char::range('\0', '~'),
        Just('"'),
        Just('\\'),
        Just('/'),
        Just('\u{e000}'),
        Just('\u{ffff}'),
        Just('\u{10000}'),
        Just('a'),
        Just('b')
    ];
    proptest::collection::vec(letter, 0..12).prop_map(String::from_iter)
}

fn document() -> impl Strategy<Value = Value> {
    let leaf =
        prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::from), number(), text().prop_map(Value::from)];
    let inner = leaf.prop_recursive(5, 60, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((text(), inner), 0..40).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    });
    proptest::collection::vec((text(), inner), 0..10).prop_map(|m| Value::Object(m.into_iter().collect()))
}

/// Writes a document with the choices of `seed` wherever JSON leaves one: order, white space, escapes.
fn spell(value: &Value, seed: &mut u64, out: &mut String) {
    let mut dice = |sides: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % sides
    };
    let mut quote = |text: &str, out: &mut String| {
        out.push('"');
        for c in text.chars() {
            if c < ' ' || c == '"' || c == '\\' || dice(6) == 0 {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    out.push_str(&if dice(2) == 0 { format!("\\u{unit:04x}") } else { format!("\\u{unit:04X}") });
                }
            } else {
                out.push(c);
            }
        }
        out.push('"');
    };
    match value {
        Value::String(text) => quote(text, out),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                spell(item, seed, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut order: Vec<_> = members.iter().collect();
            if dice(2) == 0 {
                order.reverse();
            }
            out.push_str(["{", "{ ", "{\t"][dice(3) as usize]);
            for (i, (name, value)) in order.into_iter().enumerate() {
                out.push_str(if i > 0 { "," } else { "" });
                let mut own = *seed;
                spell(&Value::from(name.as_str()), &mut own, out);
                *seed = own;
                out.push(':');
                spell(value, seed, out);
            }
            out.push('}');
        }
        other => out.push_str(&other.to_string()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_reference_implementation_agrees_on_every_spelling(value in document(), seed in any::<u64>()) {
        let want = serde_json_canonicalizer::to_vec(&value).unwrap();
        prop_assert_eq!(to_vec(&value), want.clone());
        let (mut line, mut seed) = (String::new(), seed);
        spell(&value, &mut seed, &mut line);
        // serde_json writes large doubles as integer literals, which an export may not hold.
        let mut parser = Parser::new(Literals::Canonical);
        let mut out = Vec::new();
        write(parser.parse(line.as_bytes()).unwrap().root(), &mut out);
        prop_assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(&want));
        let root = parser.parse(&want).unwrap().root();
        prop_assert!(root.slot().canonical || want.windows(2).any(|w| w[0].is_ascii_digit()), "the canonical form is recognised");
        let mut again = Vec::new();
        write(root, &mut again);
        prop_assert_eq!(again, want);
    }

    #[test]
    fn order_is_that_of_the_code_units(a in text(), b in text()) {
        let want = a.encode_utf16().cmp(b.encode_utf16());
        prop_assert_eq!(cmp_utf16(&a, &b), want);
        let (x, y) = (utf16_prefix(&a), utf16_prefix(&b));
        prop_assert!(x == y || x.cmp(&y) == want);
    }

    #[test]
    fn a_flipped_bit_is_refused_or_shows_or_means_nothing(value in document(), seed in any::<u64>(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let (mut line, mut seed) = (String::new(), seed);
        spell(&value, &mut seed, &mut line);
        let line = line.into_bytes();
        let mut flipped = line.clone();
        let at = at.index(line.len());
        flipped[at] ^= 1 << bit;
        let mut parser = Parser::new(Literals::Canonical);
        let mut before = Vec::new();
        write(parser.parse(&line).unwrap().root(), &mut before);
        let Ok(document) = parser.parse(&flipped) else { return Ok(()) };
        let mut after = Vec::new();
        write(document.root(), &mut after);
        // What still parses is hashed as the value that the reference reads, so an equal hash is an equal value.
        let reread: Value = serde_json::from_slice(&flipped).unwrap();
        prop_assert_eq!(&after, &serde_json_canonicalizer::to_vec(&reread).unwrap());
        let same = serde_json::from_slice::<Value>(&before).unwrap() == serde_json::from_slice::<Value>(&after).unwrap();
        prop_assert_eq!(before == after, same);
    }
}
