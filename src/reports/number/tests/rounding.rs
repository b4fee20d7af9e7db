//! Six places, ranks, the nearest double, and where a posterior can lie.

use num_bigint::BigInt;
use proptest::prelude::*;

use super::*;

proptest! {
    #[test]
    fn six_places_of_a_ratio_are_nearest(num in -1_000_000_000_000i128..1_000_000_000_000, den in 1i128..1_000_000_000) {
        let m = i128::from(six_places_of_ratio(num, den).unwrap());
        let twice = 2 * (num * 1_000_000 - m * den);
        prop_assert!(twice.abs() < den || (twice.abs() == den && (twice > 0) == (m < 0 || (m == 0 && num < 0))), "{m}");
        prop_assert_eq!(six_places_of_ratio(-num, den), Some(-m as i64));
        prop_assert_eq!(six_places_of_ratio(num * 10i128.pow(18), den * 10i128.pow(18)), Some(m as i64), "beyond 128 bits");
    }

    #[test]
    fn six_places_of_a_double_are_those_of_its_exact_value(x in -1000.0f64..1000.0) {
        // 60 places are exact for these: the text of the double's own value.
        let exact = format!("{:.80}", x.abs());
        let (whole, places) = exact.split_once('.').unwrap();
        let up = i64::from(places.as_bytes()[6] >= b'5');
        let m = whole.parse::<i64>().unwrap() * 1_000_000 + places[..6].parse::<i64>().unwrap() + up;
        prop_assert_eq!(six_places_of_f64(x), Some(if x < 0.0 { -m } else { m }));
    }

    #[test]
    fn a_published_number_reads_back(m in -10_000_000_000i64..10_000_000_000) {
        let number = millionths_to_json(m);
        let exact = double_of_decimal(&BigInt::from(m), 6);
        prop_assert_eq!(number.as_f64(), Some(exact));
        prop_assert_eq!(six_places_of_f64(exact), Some(m));
    }

    #[test]
    fn a_posterior_lies_where_it_can(w in 0i128..10i128.pow(19), share in 0i128..=100) {
        let p = posterior(w, w * share, &Prior::uniform());
        prop_assert!(0.0 <= p.lcb && p.lcb < p.mean && p.mean < 1.0 && p.sd > 0.0 && p.sd < 0.29);
    }
}

#[test]
fn rounding_is_half_away_from_zero() {
    assert_eq!(six_places_of_ratio(1, 2_000_000), Some(1));
    assert_eq!(six_places_of_ratio(-1, 2_000_000), Some(-1));
    assert_eq!(six_places_of_ratio(1, 3), Some(333_333));
    assert_eq!(six_places_of_ratio(2, -3), Some(-666_667));
    assert_eq!(
        (six_places_of_ratio(1, 0), six_places_of_ratio(0, 5), six_places_of_ratio(i128::MAX, 1)),
        (None, Some(0), None)
    );
    assert_eq!(six_places_of_ratio(i128::MIN, i128::MIN), Some(1_000_000));
    assert_eq!(six_places_of_decimal(4_686_707_500_000_000, 15), Some(4_686_708));
    assert_eq!(six_places_of_decimal(5, 0), Some(5_000_000));
    assert_eq!(six_places_of_decimal(5, 60), Some(0));
    // 2^-7 ends in a 5 at the seventh place: a tie that a double holds exactly.
    assert_eq!((six_places_of_f64(0.007_812_5), six_places_of_f64(-0.007_812_5)), (Some(7_813), Some(-7_813)));
    // The double nearest to 0.0000005 lies below it, or it would round up.
    assert_eq!(
        six_places_of_f64(0.000_000_5),
        Some(i64::from(format!("{:.60}", 0.000_000_5f64).as_bytes()[8] >= b'5'))
    );
    assert_eq!(
        (six_places_of_f64(f64::NAN), six_places_of_f64(f64::INFINITY), six_places_of_f64(1e300)),
        (None, None, None)
    );
    assert_eq!(
        (six_places_of_f64(0.0), six_places_of_f64(-0.0), six_places_of_f64(5e-324), six_places_of_f64(9e12)),
        (Some(0), Some(0), Some(0), Some(9_000_000_000_000_000_000))
    );
}

#[test]
fn a_percentile_is_the_nearest_rank() {
    assert_eq!(
        (rank(50, 100, 1), rank(95, 100, 1), rank(50, 100, 2), rank(50, 100, 3)),
        (Some(1), Some(1), Some(1), Some(2))
    );
    assert_eq!(
        (rank(95, 100, 20), rank(95, 100, 21), rank(0, 100, 9), rank(1, 1, 9)),
        (Some(19), Some(20), Some(1), Some(9))
    );
    assert_eq!((rank(50, 100, 0), rank(1, 0, 3)), (None, None));
}

#[test]
fn a_decimal_becomes_the_nearest_double() {
    // 2^53 + 1 and + 3 lie between two doubles each: ties go to the even one.
    assert_eq!(double_of_decimal(&BigInt::from(9_007_199_254_740_993u64), 0), 9_007_199_254_740_992.0);
    assert_eq!(double_of_decimal(&BigInt::from(9_007_199_254_740_995u64), 0), 9_007_199_254_740_996.0);
    assert_eq!(double_of_decimal(&(BigInt::from(9_007_199_254_740_993u64) * 10u8 + 1u8), 1), 9_007_199_254_740_994.0);
    assert_eq!(double_of_decimal(&BigInt::from(1u8), 1), 0.1);
}
