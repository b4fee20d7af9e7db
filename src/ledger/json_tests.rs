use super::*;
use crate::ledger::Kind;
use proptest::prelude::*;

fn fault(line: impl AsRef<[u8]>) -> (usize, JsonError) {
    let fault = parse(line.as_ref()).map(|_| ()).unwrap_err();
    (fault.byte, fault.what)
}

#[test]
fn values_are_read_as_they_are() {
    let line = r#" {"s":"a\u00e9\n","plain":"é","i":-42,"f":5.0,"e":5e0,"x":0.5,"t":true,"n":null,"a":[1,[],{}],"o":{"k":{}}} "#;
    let owned = parse(line.as_bytes()).unwrap();
    let root = owned.root();
    let get = |name: &str| root.get(name).unwrap();
    assert_eq!(get("s").as_str(), Some("aé\n"));
    assert_eq!(get("plain").as_str(), Some("é"));
    assert_eq!(["i", "f", "e", "x", "t"].map(|n| get(n).as_i64()), [Some(-42), Some(5), Some(5), None, None]);
    assert_eq!(get("x").as_f64(), Some(0.5));
    assert_eq!((get("t").as_bool(), get("n").is_null()), (Some(true), true));
    assert_eq!(get("a").items().map(Node::kind).collect::<Vec<_>>(), [Kind::Number, Kind::Array, Kind::Object]);
    assert_eq!(get("o").members().map(|(name, value)| (name, value.is_object())).collect::<Vec<_>>(), [("k", true)]);
    assert!(root.get("absent").is_none() && get("a").get("k").is_none() && get("o").items().next().is_none());
    assert_eq!(root.members().count(), 10);
}

#[test]
fn a_line_that_is_not_one_object_is_refused_where_it_goes_wrong() {
    use JsonError::*;
    for (line, byte, what) in [
        ("", 0, Empty),
        (" \r", 2, Empty),
        ("[]", 0, NotAnObject),
        ("\u{feff}{}", 0, NotAnObject),
        ("null", 0, NotAnObject),
        ("{}{}", 2, Trailing),
        ("{} x", 3, Trailing),
        ("{", 1, Truncated),
        (r#"{"a""#, 4, Truncated),
        (r#"{"a"#, 3, Truncated),
        (r#"{"a":"#, 5, Truncated),
        (r#"{"a":1"#, 6, Truncated),
        (r#"{"a":1,"#, 7, Truncated),
        (r#"{"a":[1,"#, 8, Truncated),
        (r#"{"a":tru"#, 8, Truncated),
        (r#"{"a":1."#, 7, Truncated),
        (r#"{"a":"\"#, 7, Truncated),
        (r#"{"a":"\u12"#, 10, Truncated),
        ("{,}", 1, Syntax("a member name")),
        (r#"{"a":1,}"#, 7, Syntax("a member name")),
        ("{a:1}", 1, Syntax("a member name")),
        (r#"{"a" 1}"#, 5, Syntax("':'")),
        (r#"{"a":1 "b":2}"#, 7, Syntax("',' or '}'")),
        (r#"{"a":[1 2]}"#, 8, Syntax("',' or ']'")),
        (r#"{"a":[1,]}"#, 8, Syntax("a value")),
        (r#"{"a":[,1]}"#, 6, Syntax("a value")),
        (r#"{"a":[1}"#, 7, Syntax("',' or ']'")),
        (r#"{"a":}"#, 5, Syntax("a value")),
        (r#"{"a":True}"#, 5, Syntax("a value")),
        (r#"{"a":trve}"#, 7, Syntax("a value")),
        (r#"{"a":NaN}"#, 5, Syntax("a value")),
        ("{\"a\":1\u{a0}}", 6, Syntax("',' or '}'")),
        ("{\"a\":\"\t\"}", 6, Control),
        ("{\"a\":\"\\n\u{1f}\"}", 8, Control),
        (r#"{"a":"\x"}"#, 6, Escape),
        (r#"{"a":"\u00g0"}"#, 6, Escape),
        (r#"{"a":"\ud800"}"#, 6, Surrogate),
        (r#"{"a":"x\udc00"}"#, 7, Surrogate),
        (r#"{"a":"\ud800\ud800"}"#, 6, Surrogate),
        (r#"{"a":"\ud800\n"}"#, 6, Surrogate),
        (r#"{"\ud83d":1}"#, 2, Surrogate),
    ] {
        assert_eq!(fault(line), (byte, what), "{line}");
    }
    assert_eq!(fault(b"{\"a\":\"\xff\"}"), (6, Utf8));
    assert_eq!(fault(b"{\"a\":\"\xed\xa0\x80\"}"), (6, Utf8));
    assert_eq!(fault(b"{\"a\":\"\xc3"), (6, Utf8));
    assert_eq!(parse(br#"{"a":"\ud83d\ude00"}"#).unwrap().root().get("a").unwrap().as_str(), Some("😀"));
}

#[test]
fn numbers_keep_to_their_grammar_and_range() {
    use JsonError::*;
    for number in ["01", "-", "-01", "1.e1", "1e", "1e+", "+1", ".5", "1.", "0x1", "--1", "00"] {
        let what = fault(format!("{{\"a\":{number}}}")).1;
        assert!(matches!(what, Number | Syntax(_)), "{number}: {what:?}");
    }
    for number in ["9007199254740992", "-9007199254740992", "12345678901234567890", "100000000000000000000000"] {
        assert_eq!(fault(format!("{{\"a\":{number}}}")), (5, Integer), "{number}");
        assert!(Parser::new(Literals::Canonical).parse(format!("{{\"a\":{number}}}").as_bytes()).is_ok());
    }
    for number in ["1e400", "-1e309", "1.8e308", "1e-400", "-1e-999999999999", "1e999999999999"] {
        assert_eq!(fault(format!("{{\"a\":{number}}}")), (5, Range), "{number}");
    }
    for (number, double, integer) in [
        ("9007199254740991", 9007199254740991.0, Some(9007199254740991)),
        ("-9007199254740991", -9007199254740991.0, Some(-9007199254740991)),
        ("9007199254740992.0", 9007199254740992.0, None),
        ("1e20", 1e20, None),
        ("5e-324", 5e-324, None),
        ("-0", 0.0, Some(0)),
        ("-0.0e400", 0.0, Some(0)),
        ("0E+5", 0.0, Some(0)),
        ("1.7976931348623157e308", f64::MAX, None),
        ("12.5e1", 125.0, Some(125)),
    ] {
        let line = format!("{{\"a\":{number}}}");
        let owned = parse(line.as_bytes()).unwrap();
        let node = owned.root().get("a").unwrap();
        assert_eq!((node.as_f64(), node.as_i64()), (Some(double), integer), "{number}");
    }
}

#[test]
fn nesting_stops_at_128_the_line_counted() {
    let nested = |depth: usize| format!("{{\"a\":{}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    assert!(parse(nested(128).as_bytes()).is_ok());
    assert_eq!(fault(nested(129)), (5 + 127, JsonError::Depth));
    assert_eq!(fault(format!("{{\"a\":{}", "[".repeat(1_000_000))).1, JsonError::Depth);
    assert_eq!(fault("{\"a\":".repeat(200)).1, JsonError::Depth);
}

#[test]
fn a_name_stands_once_whatever_its_spelling_and_depth() {
    for (line, byte) in [
        (r#"{"a":1,"a":1}"#, 7),
        (r#"{"a":1,"\u0061":1}"#, 7),
        (r#"{"b":1,"c":2,"a":0,"b":3}"#, 19),
        (r#"{"x":[{"k":{"b":0,"a":0,"b":0}}]}"#, 24),
        (r#"{"":0,"":0}"#, 6),
    ] {
        assert_eq!(fault(line), (byte, JsonError::Duplicate), "{line}");
    }
    assert_eq!(
        fault(r#"{"o":{"b":1,"a":2,"\u0062":3}}"#),
        (5, JsonError::Duplicate),
        "out of order and escaped: the object's place"
    );
    assert!(
        parse(r#"{"é":1,"e\u0301":2,"E":3,"e":{"e":4}}"#.as_bytes()).is_ok(),
        "names are compared as they are, not normalized"
    );
    let many = |last: &str| {
        let names: Vec<String> =
            (0..100_000u32).map(|i| format!("\"{:08x}\":0", i.wrapping_mul(2_654_435_761))).collect();
        format!("{{{},\"{last}\":0}}", names.join(","))
    };
    assert!(parse(many("z").as_bytes()).is_ok());
    let second = many("00000000");
    assert_eq!(fault(&second), (second.len() - "\"00000000\":0}".len(), JsonError::Duplicate));
}

#[test]
fn a_parser_is_clean_after_every_line() {
    let mut parser = Parser::new(Literals::Export);
    for bad in [&b"{\"a\\n\":[{\"b\":\"\\t\",\"a\":"[..], b"{\"b\":1,\"a\":1,\"b\":2}", b"\xff", b"{}{}"] {
        assert!(parser.parse(bad).is_err());
        let good = parser.parse(br#"{"a":"\n","b":[]}"#).unwrap();
        assert_eq!(good.root().members().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
    }
}

#[test]
fn an_11_mb_line_is_a_line_like_another() {
    let line = format!("{{\"a\":\"{}\",\"b\":[{}1]}}", "ü".repeat(3_000_000), "1,".repeat(2_500_000));
    let owned = parse(line.as_bytes()).unwrap();
    assert_eq!(owned.root().get("a").unwrap().as_str().map(str::len), Some(6_000_000));
    assert_eq!(owned.root().get("b").unwrap().items().count(), 2_500_001);
}

#[test]
fn a_line_has_a_limit_of_values() {
    // The object, the name, the array, the ones.
    let line = |ones: usize| format!("{{\"a\":[{}1]}}", "1,".repeat(ones - 1));
    assert!(parse(line(MAX_VALUES - 3).as_bytes()).is_ok());
    let over = line(MAX_VALUES - 2);
    assert_eq!(fault(&over), (over.len() - "]}".len(), TOO_MANY));
    assert_eq!(fault(format!("{{\"a\":[{}", "1,".repeat(MAX_VALUES))).1, TOO_MANY);
}

proptest! {
    #[test]
    fn whatever_serde_json_refuses_is_refused(bytes in proptest::collection::vec(prop_oneof![
        Just(b'{'), Just(b'}'), Just(b'['), Just(b']'), Just(b'"'), Just(b':'), Just(b','), Just(b'1'), Just(b'-'), Just(b'e'), Just(b'.'), Just(b'\\'), Just(b' ')
    ], 0..24)) {
        let ours = parse(&bytes).is_ok();
        let theirs = serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes).is_ok();
        prop_assert!(theirs || !ours, "{:?}", String::from_utf8_lossy(&bytes));
    }
}
