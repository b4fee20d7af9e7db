//! Weights against high precision: mpmath's table of `fixtures/weights`, and a calculation by square roots that shares nothing with
//! `weight.rs` and `exact.rs`.

use std::sync::LazyLock;

use num_bigint::BigUint;
use proptest::prelude::*;

use super::super::exact::{Exact, ln2};
use super::super::weight::inside;
use super::*;

/// The 2^-(1/2^k) for k from 1, with 224 bits, each from the last by a square root.
static ROOTS: LazyLock<Vec<BigUint>> = LazyLock::new(|| {
    let mut root = BigUint::from(1u8) << 223u32;
    (0..160)
        .map(|_| {
            root = (&root << 224u32).sqrt();
            root.clone()
        })
        .collect()
});

/// The weight by the product of the roots at the bits of f: an enclosure of 2^-140, which must decide.
fn reference(half_life: &Decimal, factor: &Decimal, age: u64) -> u64 {
    let ten = |places: u32| BigUint::from(10u8).pow(places);
    let denominator = BigUint::from(half_life.mantissa()) * 86_400_000u32;
    let scaled = BigUint::from(age) * ten(half_life.scale());
    let whole = &scaled / &denominator;
    if whole > BigUint::from(200u8) {
        return 0;
    }
    let n = u32::try_from(&whole).unwrap();
    let remainder = scaled - whole * &denominator;
    let f = (&remainder << 160u32) / &denominator;
    let mut power = BigUint::from(1u8) << 224u32;
    for (k, root) in ROOTS.iter().enumerate() {
        if f.bit(159 - k as u64) {
            power = (power * root) >> 224u32;
        }
    }
    let round = |power: BigUint| {
        let divisor = ten(factor.scale()) << (224 + n);
        ((power * factor.mantissa() * ten(15) * 2u8 + &divisor) / (divisor * 2u8)).try_into().unwrap()
    };
    // An exact case is one: the product has no factor and no error.
    let slack = if remainder == BigUint::ZERO { BigUint::ZERO } else { BigUint::from(1u8) << 84u32 };
    let (below, above): (u64, u64) = (round(&power - &slack), round(&power + &slack));
    assert_eq!(below, above, "the reference does not decide at {age}");
    above
}

/// Numbers that look random and are the same each time (splitmix64).
fn draw(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[test]
fn weights_equal_the_reference_at_150_000_ages() {
    let mut state = 1;
    for (half_life, value_weight) in [
        ("60", "0.5"),
        ("45.5", "0.35"),
        ("0.1", "1"),
        ("365.25", "0.123456789012345"),
        ("60.1", "0.333"),
        ("0.7777777777", "0.9"),
    ] {
        let (h, k) = (decimal(half_life), decimal(value_weight));
        let weigher = weigher(half_life, value_weight);
        let half_life_ms = (h.mantissa() * 86_400_000 / 10u128.pow(h.scale())) as u64;
        for i in 0..25_000u64 {
            // Most within four half-lives, some up to 60.
            let age = draw(&mut state) % (half_life_ms * if i % 5 == 0 { 60 } else { 4 });
            let is_value = i % 3 == 0;
            let factor = if is_value { k } else { Decimal::ONE };
            assert_eq!(
                weigher.weight(age, is_value),
                reference(&h, &factor, age),
                "H {half_life} K {factor} age {age}"
            );
        }
    }
}

struct Hard {
    half_life: Decimal,
    factor: Decimal,
    age: u64,
    weight: u64,
}

fn hard_cases() -> Vec<Hard> {
    let row = |line: &str| {
        let [half_life, factor, age, weight] = line.split(',').collect::<Vec<_>>().try_into().unwrap();
        Hard {
            half_life: decimal(half_life),
            factor: decimal(factor),
            age: age.parse().unwrap(),
            weight: weight.parse().unwrap(),
        }
    };
    include_str!("../../../../fixtures/weights/hard.csv").lines().skip(1).map(row).collect()
}

#[test]
fn weights_equal_mpmath_where_rounding_is_hardest() {
    let cases = hard_cases();
    assert!(cases.len() > 5000);
    let mut undecided = 0;
    for case in &cases {
        let weigher = Weigher::new(&case.half_life, &case.factor).unwrap();
        assert_eq!(
            weigher.weight(case.age, true),
            case.weight,
            "H {} K {} age {}",
            case.half_life,
            case.factor,
            case.age
        );
        let units = u64::try_from(case.factor.units_ceil(15).unwrap()).unwrap();
        undecided += usize::from(inside::fast_or_none(case.age, &case.half_life, units).is_none());
    }
    assert!(undecided > 1000, "only {undecided} of the hard cases left the fast path");
}

#[test]
fn precision_rises_until_it_decides() {
    let mut raised = 0;
    for case in hard_cases() {
        let exact = Exact::new(&case.half_life, &case.factor);
        let (weight, bits) = exact.weight_from(case.age, 64);
        assert_eq!(weight, case.weight, "H {} K {} age {}", case.half_life, case.factor, case.age);
        raised += usize::from(bits > 64);
    }
    assert!(raised > 1000, "{raised}");
    // c = 1/2: the weight is a half, less a part that only many bits show; at age 0 it is the half itself.
    let exact = Exact::new(&decimal("9999999999999999999999999999"), &decimal("0.0000000000000005"));
    assert_eq!(exact.weight_from(0, 64), (1, 0));
    let (weight, bits) = exact.weight_from(1, 64);
    assert!(weight == 0 && bits >= 256, "{weight} with {bits} bits");
}

#[test]
fn decimals_beyond_the_fast_path_are_exact_too() {
    for (half_life, factor) in [
        ("123456789.123456789", "0.5"),
        ("1e27", "1"),
        ("60", "0.3333333333333333333333333333"),
        ("0.0000000000000000000000000001", "1"),
    ] {
        let (h, k) = (decimal(half_life), decimal(factor));
        let weigher = weigher(half_life, factor);
        for age in [0, 1, 77_777, 86_400_000, 10_000_000_000_000, 1 << 62] {
            assert_eq!(weigher.weight(age, true), reference(&h, &k, age), "H {half_life} K {factor} age {age}");
        }
    }
}

#[test]
fn the_fast_enclosure_holds_the_power() {
    let mut state = 7;
    let edges = [0, 1, u64::MAX, 1 << 48, (1 << 48) - 1, 1 << 56, (1 << 56) - 1, 255 << 48, 0xFFFF << 48];
    for f in edges.into_iter().chain((0..20_000).map(|_| draw(&mut state))) {
        let mut power = BigUint::from(1u8) << 224u32;
        for (k, root) in ROOTS.iter().take(64).enumerate() {
            if f >> (63 - k) & 1 == 1 {
                power = (power * root) >> 224u32;
            }
        }
        // f stands for all of [f, f + 1) ulp: both ends must be inside.
        let next = (&power * &ROOTS[63]) >> 224u32;
        let (low, high) = inside::enclosure(f);
        assert!(BigUint::from(low) << 160u32 < next && power < BigUint::from(high) << 160u32, "{f:#x}");
    }
}

#[test]
fn constants_and_tables_are_what_they_are_said_to_be() {
    assert_eq!(u128::try_from(ln2(512) >> 384u32), Ok(0xB172_17F7_D1CF_79AB_C9E3_B398_03F2_F6AF));
    assert_eq!(u64::try_from(ln2(512) >> 448u32), Ok(inside::LN2_BITS));
    // e^(ln 2 / 2) is √2: the series of both against the integer square root.
    let half: BigUint = ln2(256) >> 1u8;
    let one = BigUint::from(1u8) << 256u32;
    let (mut sum, mut term) = (one.clone(), one.clone());
    for k in 1u32..60 {
        term = ((term * &half) >> 256u32) / k;
        sum += &term;
    }
    let root = ((one * 2u8) << 256u32).sqrt();
    let distance = if sum > root { sum - root } else { root - sum };
    assert!(distance.bits() < 16);
    let (coarse, fine) = inside::tables();
    let mut root = BigUint::from(1u8) << 511u32;
    for k in 1..=16 {
        root = (&root << 512u32).sqrt();
        let table = match k {
            8 => coarse,
            16 => fine,
            _ => continue,
        };
        let mut power = BigUint::from(1u8) << 512u32;
        for entry in table.iter().skip(1) {
            power = (power * &root) >> 512u32;
            assert_eq!(u64::try_from(&power >> 448u32), Ok(*entry));
        }
    }
    assert_eq!((coarse[0], fine[0]), (u64::MAX, u64::MAX));
}

#[test]
fn borders_of_a_weight() {
    let weigher = weigher("60", "0.5");
    let half_life = 60 * 86_400_000;
    assert_eq!((weigher.weight(0, false), weigher.weight(0, true)), (ONE, ONE / 2));
    assert_eq!(weigher.weight(half_life, false), ONE / 2);
    assert_eq!(weigher.weight(49 * half_life, false), 2);
    assert_eq!(weigher.weight(50 * half_life, false), 1, "0.888 of a unit");
    assert_eq!(weigher.weight(51 * half_life, false), 0, "0.444 of a unit");
    assert_eq!(weigher.weight(u64::MAX, true), 0);
    assert_eq!(weigher.weight_at(0, i64::MAX, false), ONE, "an event after T has age 0");
    assert_eq!(weigher.weight_at(i64::MAX, i64::MIN, false), 0);
    assert!(
        Weigher::new(&Decimal::ZERO, &Decimal::ONE).is_none() && Weigher::new(&Decimal::ONE, &decimal("1.1")).is_none()
    );
}

proptest! {
    #[test]
    fn an_older_event_never_weighs_more(age in 0u64..20_000_000_000, step in 0u64..100_000, is_value: bool) {
        let weigher = weigher("60", "0.35");
        prop_assert!(weigher.weight(age + step, is_value) <= weigher.weight(age, is_value));
    }

    #[test]
    fn a_half_life_later_the_weight_is_half(age in 0u64..100_000_000_000) {
        let weigher = weigher("45.5", "0.5");
        let (now, later) = (weigher.weight(age, false), weigher.weight(age + 3_931_200_000, false));
        // Each is within half a unit of its real value.
        prop_assert!(now.abs_diff(2 * later) <= 1, "{now} {later}");
        prop_assert_eq!(weigher.weight(age, true), later);
    }
}

/// `cargo test --release -- --ignored --nocapture speed_of_a_weight`
#[test]
#[ignore = "a measurement"]
fn speed_of_a_weight() {
    for (half_life, value_weight) in [("60", "0.5"), ("45.5", "0.35")] {
        let weigher = weigher(half_life, value_weight);
        let (mut state, mut sum) = (3, 0u64);
        let start = std::time::Instant::now();
        for i in 0..10_000_000u64 {
            sum = sum.wrapping_add(weigher.weight(draw(&mut state) % 63_072_000_000, i % 8 == 0));
        }
        println!("H {half_life}: {:?} a weight (sum {sum})", start.elapsed() / 10_000_000);
    }
}
