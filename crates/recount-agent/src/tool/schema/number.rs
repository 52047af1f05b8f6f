//! Exact comparison of JSON values.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// Returns whether two values are equal. `1` and `1.0` are.
pub(super) fn is_equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => compare(left, right) == Some(Ordering::Equal),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| is_equal(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            let is_same = |(key, value): (&String, &Value)| right.get(key).is_some_and(|other| is_equal(value, other));
            left.len() == right.len() && left.iter().all(is_same)
        }
        _ => left == right,
    }
}

/// Compares two numbers without rounding.
pub(super) fn compare(left: &Number, right: &Number) -> Option<Ordering> {
    match (integer(left), integer(right)) {
        (Some(left), Some(right)) => Some(left.cmp(&right)),
        (Some(left), None) => Some(compare_with_float(left, right.as_f64()?)),
        (None, Some(right)) => Some(compare_with_float(right, left.as_f64()?).reverse()),
        (None, None) => left.as_f64()?.partial_cmp(&right.as_f64()?),
    }
}

/// Returns whether a number is a multiple of a positive integer.
pub(super) fn is_multiple(number: &Number, of: u64) -> bool {
    match integer(number) {
        Some(integer) => integer % i128::from(of) == 0,
        #[allow(clippy::cast_precision_loss, reason = "the parser limits the divisor to 53 bits")]
        None => number.as_f64().is_some_and(|float| float % of as f64 == 0.0),
    }
}

fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn compare_with_float(integer: i128, float: f64) -> Ordering {
    let floor = float.floor();
    // The conversion saturates far beyond the integers of JSON.
    #[allow(clippy::cast_possible_truncation, reason = "saturation keeps the order")]
    let order = integer.cmp(&(floor as i128));
    if order == Ordering::Equal && float > floor { Ordering::Less } else { order }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_without_rounding() {
        let number = |text: &str| serde_json::from_str::<Number>(text).unwrap();
        for (left, right, expected) in [
            ("1", "1.0", Ordering::Equal),
            ("9007199254740993", "9007199254740992.0", Ordering::Greater),
            ("18446744073709551615", "18446744073709551616.0", Ordering::Less),
            ("-1", "-1.5", Ordering::Greater),
            ("-2", "-1.5", Ordering::Less),
            ("3", "1e300", Ordering::Less),
            ("3", "-1e300", Ordering::Greater),
            ("0.5", "0.25", Ordering::Greater),
        ] {
            assert_eq!(compare(&number(left), &number(right)), Some(expected), "{left} {right}");
            assert_eq!(compare(&number(right), &number(left)), Some(expected.reverse()), "{right} {left}");
        }
    }
}
