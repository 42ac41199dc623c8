//! Changes in words: percent or points, or "3.5 times" if percent are hard to read.

use plimsoll_stats::Interval;

/// From this ratio on, a change is a number of times.
const TIMES: f64 = 3.0;
/// The end of an interval may be larger in percent.
const TIMES_OF_END: f64 = 10.0;
/// A ratio below this is a number of times, because -99.9 % and -99.99 % look alike.
const SMALL: f64 = 0.1;

/// A ratio and its interval in words: `+12.3 %` and `+10.1 % to +14.6 %`, or `35 times` and `31 to 40`.
pub fn of_ratio(ratio: Interval) -> (String, String) {
    let [estimate, low, high] = [ratio.estimate, ratio.low, ratio.high];
    if estimate >= TIMES || high >= TIMES_OF_END || estimate < SMALL {
        let interval = between(digits(low), digits(high));
        return (format!("{} times", digits(estimate)), interval);
    }
    let percent = |ratio: f64| format!("{:+.1} %", (ratio - 1.0) * 100.0);
    (percent(estimate), between(percent(low), percent(high)))
}

/// A difference of shares and its interval in words: `+3.4 points`.
pub fn of_difference(difference: Interval) -> (String, String) {
    let points = |value: f64| format!("{:+.1} points", value * 100.0);
    let interval = between(points(difference.low), points(difference.high));
    (points(difference.estimate), interval)
}

/// A relative increase in words: `+12.3 %` or `35 times`.
pub fn increase(ratio: f64) -> String {
    match (SMALL..TIMES).contains(&ratio) {
        true => format!("{:+.1} %", (ratio - 1.0) * 100.0),
        false => format!("{} times", digits(ratio)),
    }
}

/// `changed by +12.3 %`, or `is 35 times as much`.
pub fn changed(change: &str) -> String {
    match change.ends_with("times") {
        true => format!("is {change} as much"),
        false => format!("changed by {change}"),
    }
}

/// A share by which a value may differ in either direction: `12.3 %`, or `a factor of 39`.
pub fn difference(share: f64) -> String {
    match share < TIMES - 1.0 {
        true => format!("{:.1} %", share * 100.0),
        false => format!("a factor of {}", digits(share + 1.0)),
    }
}

/// `p 0.012`, or `p < 0.001`.
pub fn p_value(p: f64) -> String {
    match p < 0.001 {
        true => "p < 0.001".to_owned(),
        false => format!("p {p:.3}"),
    }
}

fn between(low: String, high: String) -> String {
    format!("{low} to {high}")
}

/// Three digits, more for large numbers.
fn digits(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return match value.is_finite() {
            true => "0".to_owned(),
            false => "∞".to_owned(),
        };
    }
    let before = value.abs().log10().floor() as i32 + 1;
    let places = usize::try_from(3 - before).unwrap_or(0);
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, estimate: f64, high: f64) -> (String, String) {
        of_ratio(Interval {
            low,
            estimate,
            high,
        })
    }

    fn pair(change: &str, interval: &str) -> (String, String) {
        (change.to_owned(), interval.to_owned())
    }

    #[test]
    fn large_changes_are_a_number_of_times() {
        assert_eq!(
            texts(1.101, 1.123, 1.146),
            pair("+12.3 %", "+10.1 % to +14.6 %")
        );
        assert_eq!(
            texts(1479.7, 2236.8, 3381.3),
            pair("2237 times", "1480 to 3381")
        );
        assert_eq!(texts(3.02, 3.456, 4.0), pair("3.46 times", "3.02 to 4.00"));
        assert_eq!(texts(0.5, 2.4, 11.5), pair("2.40 times", "0.500 to 11.5"));
        assert_eq!(
            texts(0.0004, 0.00045, 0.0005),
            pair("0.000450 times", "0.000400 to 0.000500")
        );
        let points = of_difference(Interval {
            low: 0.0,
            estimate: 0.034,
            high: 0.05,
        });
        assert_eq!(points, pair("+3.4 points", "+0.0 points to +5.0 points"));
    }

    #[test]
    fn small_p_values_are_not_zero() {
        assert_eq!(p_value(0.000_01), "p < 0.001");
        assert_eq!(p_value(0.012_3), "p 0.012");
        assert_eq!(difference(38.113), "a factor of 39.1");
        assert_eq!(difference(0.05), "5.0 %");
        assert_eq!(changed(&increase(39.1)), "is 39.1 times as much");
        assert_eq!(changed(&increase(0.8)), "changed by -20.0 %");
    }
}
