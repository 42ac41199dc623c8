//! A printed figure: its value, its unit and its precision.

/// The unit of a figure. Values are stored in this unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Time,
    /// Bytes.
    Bytes,
    /// Bytes per second.
    ByteRate,
    /// Bits per second.
    BitRate,
    /// Events per second.
    Rate,
    /// A number of things.
    Count,
    /// A fraction: 5 % is 0.05.
    Share,
}

/// A printed figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The value in the unit's base scale: seconds, bytes, or 1.
    pub value: f64,
    pub unit: Unit,
    /// The value of one step of the last printed digit, or 0 if the figure is exact.
    pub step: f64,
    /// The figure as printed.
    pub text: String,
    /// The line number, counted from 1.
    pub line: usize,
}

impl Quantity {
    /// An exact figure: a count, or a number from JSON.
    pub fn exact(value: f64, unit: Unit, line: usize) -> Quantity {
        Quantity {
            value,
            unit,
            step: 0.0,
            text: format_value(value, unit),
            line,
        }
    }

    /// The smallest and largest values that would print like this. Tools either round or truncate,
    /// so the true value may be a whole step away in either direction.
    pub fn bounds(&self) -> (f64, f64) {
        (self.value - self.step, self.value + self.step)
    }

    /// Whether `other` may be the same value, given the printed digits of both.
    pub fn agrees_with(&self, other: &Quantity) -> bool {
        let slack = self.step.max(other.step) + self.value.abs() * 1e-9;
        (self.value - other.value).abs() <= slack
    }
}

/// Splits `1.09ms` into the number and the rest.
pub fn split_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim();
    let mut end = 0;
    for (at, letter) in text.char_indices() {
        let sign = at == 0 && (letter == '-' || letter == '+');
        let exponent =
            (letter == 'e' || letter == 'E') && end > 0 && text[at + 1..].starts_with(['-', '+']);
        let after_exponent = (letter == '-' || letter == '+')
            && at > 0
            && text[..at].ends_with(['e', 'E'])
            && end == at;
        if sign
            || letter.is_ascii_digit()
            || letter == '.'
            || letter == ','
            || exponent
            || after_exponent
        {
            end = at + letter.len_utf8();
        } else {
            break;
        }
    }
    let (number, rest) = text.split_at(end);
    number
        .chars()
        .any(|letter| letter.is_ascii_digit())
        .then_some((number, rest))
}

/// The value of a number and the value of one step of its last digit. Commas group digits.
pub fn parse_number(text: &str) -> Option<(f64, f64)> {
    // A comma that three digits follow groups thousands. Any other comma is a decimal comma.
    // A number with grouped thousands does not begin with 0.
    let decimal = text.split_once(',').is_some_and(|(before, after)| {
        (after.len() != 3 || before.trim_start_matches(['-', '+']) == "0")
            && !after.is_empty()
            && !text.contains('.')
            && !after.contains(',')
    });
    let text = text.replace(',', if decimal { "." } else { "" });
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite())?;
    let (mantissa, exponent) = match text.find(['e', 'E']) {
        Some(at) => (&text[..at], text[at + 1..].parse::<i32>().ok()?),
        None => (&text[..], 0),
    };
    let decimals = mantissa.find('.').map_or(0, |at| mantissa.len() - at - 1);
    let decimals = i32::try_from(decimals).ok()?;
    Some((value, 10_f64.powi((exponent - decimals).clamp(-300, 300))))
}

/// Parses a duration of one or more parts: `3.91ms`, `1m0.5s`, `250.00us`, `0s`.
pub fn parse_duration(text: &str, line: usize) -> Option<Quantity> {
    let text = text.trim();
    if let Some(seconds) = parse_clock_time(text) {
        return Some(Quantity {
            value: seconds,
            unit: Unit::Time,
            step: 1.0,
            text: text.to_owned(),
            line,
        });
    }
    let (negative, body) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    if body.starts_with(['-', '+']) {
        return None;
    }
    let mut rest = body;
    let (mut total, mut step, mut parts) = (0.0, 0.0, 0);
    while !rest.is_empty() {
        let (digits, after) = split_number(rest)?;
        let (value, worth) = parse_number(digits)?;
        let after = after.trim_start();
        let end = after
            .find(|letter: char| !letter.is_alphabetic())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(end);
        let scale = parse_time_unit(unit)?;
        total += value * scale;
        step = worth * scale;
        rest = next.trim_start();
        parts += 1;
        if parts > 6 {
            return None;
        }
    }
    (parts > 0).then(|| Quantity {
        value: if negative { -total } else { total },
        unit: Unit::Time,
        step,
        text: text.to_owned(),
        line,
    })
}

/// Parses `00:05:00`: hours, minutes and seconds.
fn parse_clock_time(text: &str) -> Option<f64> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let two = |part: &str| part.len() == 2 && part.bytes().all(|digit| digit.is_ascii_digit());
    if parts.next().is_some()
        || !two(minutes)
        || !two(seconds)
        || hours.is_empty()
        || hours.len() > 3
    {
        return None;
    }
    let number = |part: &str| part.parse::<u32>().ok().map(f64::from);
    Some(number(hours)? * 3600.0 + number(minutes)? * 60.0 + number(seconds)?)
}

/// The seconds in a unit of time.
pub fn parse_time_unit(unit: &str) -> Option<f64> {
    Some(match unit {
        "ns" => 1e-9,
        "us" | "µs" | "μs" | "microseconds" => 1e-6,
        "ms" | "msec" | "msecs" | "millisecond" | "milliseconds" | "мс" | "мсек" | "毫秒"
        | "ミリ秒" => 1e-3,
        "s" | "sec" | "secs" | "second" | "seconds" | "с" | "сек" | "秒" | "sn" => 1.0,
        "m" | "min" | "minutes" => 60.0,
        "h" => 3600.0,
        _ => return None,
    })
}

/// Whether a unit counts events per second: `req/s`, `RPS`, `[#/sec]`, but not `MB/s`.
pub fn is_rate_unit(unit: &str) -> bool {
    const EVENTS: [&str; 13] = [
        "req", "r/", "op", "trans", "tx", "quer", "msg", "mess", "event", "iter", "call", "/s",
        "запр",
    ];
    let lower = unit.to_lowercase();
    matches!(lower.as_str(), "rps" | "qps" | "tps" | "iops" | "[#/sec]")
        || !lower.starts_with("transfer")
            && (lower.contains("/s") || lower.contains("/с"))
            && EVENTS.iter().any(|word| lower.starts_with(word))
}

/// The factor and the type of a data unit: `MB`, `MBytes/s`, `Mbits/sec`.
pub fn parse_data_unit(unit: &str) -> Option<(f64, Unit)> {
    let (amount, per_second) = match unit.find('/') {
        Some(at) if matches!(&unit[at..], "/s" | "/sec") => (&unit[..at], true),
        Some(_) => return None,
        None => match unit.strip_suffix("ps") {
            Some(amount) => (amount, true),
            None => (unit, false),
        },
    };
    let bits = amount.ends_with("bit") || amount.ends_with("bits") || amount.ends_with('b');
    // iperf3 prints bytes with binary prefixes and bits with decimal ones. wrk, hey and others
    // print binary multiples under decimal names; their readers correct for this.
    let scale = match amount.trim_end_matches("ytes").trim_end_matches("yte") {
        "B" | "b" | "bits" | "bit" => 1.0,
        "kB" | "KB" | "kb" | "Kbits" | "kbits" | "Kbit" | "kbit" | "Kb" => 1e3,
        "MB" | "Mbits" | "Mbit" | "Mb" => 1e6,
        "GB" | "Gbits" | "Gbit" | "Gb" => 1e9,
        "TB" | "Tbits" | "Tbit" | "Tb" => 1e12,
        "KiB" => 1024.0,
        "MiB" => 1_048_576.0,
        "GiB" => 1_073_741_824.0,
        _ => return None,
    };
    Some((
        scale,
        match (bits, per_second) {
            (true, true) => Unit::BitRate,
            (false, true) => Unit::ByteRate,
            (false, false) => Unit::Bytes,
            (true, false) => return None,
        },
    ))
}

/// Parses an amount of data or a data rate with decimal multiples: `397 MB`, `13 MB/s`.
pub fn parse_data(text: &str, line: usize) -> Option<Quantity> {
    let (digits, rest) = split_number(text)?;
    let (value, step) = parse_number(digits)?;
    let (scale, unit) = parse_data_unit(rest.trim())?;
    Some(Quantity {
        value: value * scale,
        unit,
        step: step * scale,
        text: text.trim().to_owned(),
        line,
    })
}

/// Like [`parse_data`], for tools whose kB are 1024 bytes.
pub fn parse_binary_data(text: &str, line: usize) -> Option<Quantity> {
    let mut quantity = parse_data(text, line)?;
    let (_, rest) = split_number(text)?;
    let factor = match rest.trim().chars().next() {
        Some('k' | 'K') => 1.024,
        Some('M') => 1.048_576,
        Some('G') => 1.073_741_824,
        _ => 1.0,
    };
    quantity.value *= factor;
    quantity.step *= factor;
    Some(quantity)
}

/// Parses a number without a unit. The caller knows its type.
pub fn parse_unitless(text: &str, unit: Unit, line: usize) -> Option<Quantity> {
    let text = text.trim();
    let (digits, rest) = split_number(text)?;
    let (value, step) = parse_number(digits)?;
    let (scale, rest) = match rest.strip_prefix('%') {
        Some(rest) => (0.01, rest),
        None => (1.0, rest),
    };
    let rest = rest.trim();
    if !rest.is_empty() && !is_rate_unit(rest) {
        return None;
    }
    Some(Quantity {
        value: value * scale,
        unit,
        step: if unit == Unit::Count {
            0.0
        } else {
            step * scale
        },
        text: text.to_owned(),
        line,
    })
}

/// Formats a value for a finding: `10.17 ms`, `47,618/s`, `27 MB`.
pub fn format_value(value: f64, unit: Unit) -> String {
    let scaled = |steps: &[(f64, &str)]| {
        let found = steps
            .iter()
            .find(|(scale, _)| value.abs() >= *scale)
            .or(steps.last());
        found.map_or_else(String::new, |(scale, name)| {
            format!("{} {name}", format_number(value / scale))
        })
    };
    match unit {
        Unit::Time => scaled(&[(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")]),
        Unit::Bytes => scaled(&[(1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")]),
        Unit::ByteRate => scaled(&[(1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")]),
        Unit::BitRate => scaled(&[
            (1e9, "Gbit/s"),
            (1e6, "Mbit/s"),
            (1e3, "kbit/s"),
            (1.0, "bit/s"),
        ]),
        Unit::Rate => format!("{}/s", format_number(value)),
        Unit::Count => format_number(value),
        Unit::Share => format!("{} %", format_number(value * 100.0)),
    }
}

/// Formats a number with about four significant digits and without an exponent. Whole numbers have
/// no decimals.
pub fn format_number(value: f64) -> String {
    let size = value.abs();
    if value == value.trunc() && size < 1e15 {
        return format!("{value:.0}");
    }
    let decimals = if size >= 100.0 {
        1
    } else if size >= 10.0 {
        2
    } else if size >= 0.1 {
        3
    } else {
        6
    };
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_with_their_step() {
        for (text, value, step) in [
            ("3.91ms", 3.91e-3, 1e-5),
            ("1m0.3s", 60.3, 0.1),
            ("29m59.994999694s", 1799.994999694, 1e-9),
            ("-1009014ns", -1009014e-9, 1e-9),
            ("46.15us", 46.15e-6, 1e-8),
            ("0s", 0.0, 1.0),
            ("00:05:30", 330.0, 1.0),
            ("1,5ms", 1.5e-3, 1e-4),
            ("1,500ms", 1.5, 1e-3),
            ("0,217s", 0.217, 1e-3),
        ] {
            let read = parse_duration(text, 1).unwrap();
            assert!((read.value - value).abs() < 1e-9, "{text}: {read:?}");
            assert!((read.step - step).abs() < step * 1e-6, "{text}: {read:?}");
        }
        for text in ["", "ms", "5", "5 apples", "1e999s", "--5ms", "5ms5"] {
            assert_eq!(parse_duration(text, 1), None, "{text}");
        }
    }

    #[test]
    fn data_are_read_in_bytes_or_bits() {
        assert_eq!(parse_data("397 MB", 1).unwrap().value, 397e6);
        assert_eq!(parse_data("933 Mbits/sec", 1).unwrap().unit, Unit::BitRate);
        assert_eq!(parse_data("1.34 MBytes", 1).unwrap().unit, Unit::Bytes);
        assert_eq!(parse_binary_data("2.00MB", 1).unwrap().value, 2097152.0);
        assert_eq!(parse_data("5 ms", 1), None);
    }

    #[test]
    fn units_of_rates_are_events_per_second() {
        for unit in [
            "req/s",
            "Requests/sec",
            "RPS",
            "ops/sec",
            "[#/sec]",
            "/s",
            "msgs/s",
        ] {
            assert!(is_rate_unit(unit), "{unit}");
        }
        for unit in ["", "MB/s", "requests", "ms", "s", "GB", "req"] {
            assert!(!is_rate_unit(unit), "{unit}");
        }
    }

    #[test]
    fn figures_are_printed_shortly() {
        assert_eq!(format_value(0.01017, Unit::Time), "10.17 ms");
        assert_eq!(format_value(47618.108, Unit::Rate), "47618.1/s");
        assert_eq!(format_value(0.00003133, Unit::Share), "0.003133 %");
        assert_eq!(format_value(6000.0, Unit::Count), "6000");
    }
}
