//! The figure in a cell: its value, its unit and the step of its last digit.

use crate::quantity::{
    Unit, is_rate_unit, parse_data_unit, parse_number, parse_time_unit, split_number,
};

/// The unit of a figure. Values are in seconds, per second, bytes or percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Time,
    Rate,
    Data,
    DataRate,
    Percent,
    /// A factor: `2.5x`.
    Factor,
    Plain,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub step: f64,
    /// The step if trailing zeros come from rounding: 10 for `480`, 1 for `66.00`.
    pub coarse: f64,
    pub kind: Kind,
    /// Whether the cell marks it as rounded.
    pub about: bool,
    /// Whether it is a limit instead of a value: `<1ms`, `>100,000 req/s`.
    pub bound: bool,
    pub text: String,
}

impl Figure {
    /// The text with the unit from the name of the figure if the text has none: `45 ms` for 45 in the
    /// column `mean (ms)`.
    pub fn with_unit(&self) -> String {
        let text = &self.text;
        let Some(own) = read(text).filter(|own| own.kind == Kind::Plain) else {
            return text.clone();
        };
        let is = |scale: f64| (self.value / own.value / scale - 1.0).abs() < 1e-6;
        let units: &[(f64, &str)] = match self.kind {
            Kind::Time => &[
                (1e-9, " ns"),
                (1e-6, " µs"),
                (1e-3, " ms"),
                (1.0, " s"),
                (60.0, " min"),
                (3600.0, " h"),
            ],
            Kind::Rate => &[(1.0, "/s")],
            Kind::Percent => &[(1.0, " %")],
            _ => &[],
        };
        let unit = units.iter().find(|(scale, _)| is(*scale));
        unit.map_or_else(|| text.clone(), |(_, unit)| format!("{text}{unit}"))
    }
}

/// Words that may follow a factor or a percentage.
const CHANGES: [&str; 13] = [
    "faster",
    "slower",
    "better",
    "worse",
    "less",
    "more",
    "lower",
    "higher",
    "improvement",
    "reduction",
    "increase",
    "decrease",
    "smaller",
];

/// Whether a character is Markdown markup or a symbol such as ✓ around a figure.
fn is_mark(letter: char) -> bool {
    matches!(letter, '*' | '`' | '_' | ' ' | '|') || !letter.is_ascii() && !letter.is_alphanumeric()
}

/// Reads a cell with one figure, optionally followed by its deviation or a remark in parentheses.
pub fn read(cell: &str) -> Option<Figure> {
    if cell.len() > 80 {
        return None;
    }
    let text = cell.trim_start_matches(|letter| is_mark(letter) && !matches!(letter, '−' | '≈'));
    let bound = text.starts_with(['<', '>']);
    let text = text.trim_start_matches(['<', '>', '=', ' ']);
    let (text, about) = ["~", "≈", "about ", "ca. "]
        .iter()
        .find_map(|word| Some((text.strip_prefix(word)?.trim_start(), true)))
        .unwrap_or((text, false));
    let (negative, text) = match text.strip_prefix(['-', '−']) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let joined = join_digit_groups(text).replacen(" per second", "/s", 1);
    let (written, rest) = split_number(&joined)?;
    let (value, step) = parse_number(written.trim_end_matches(['.', ',']))?;
    let (thousands, rest) = match split_multiple(rest) {
        Some((factor, rest)) => (factor, rest),
        None => (1.0, rest),
    };
    let rest = rest.trim_start_matches(['*', '`', ' ', '_']);
    let end = rest
        .find(|letter: char| !(letter.is_alphabetic() || matches!(letter, '%' | '/' | '×')))
        .unwrap_or(rest.len());
    let (unit, after) = rest.split_at(end);
    let after = after.trim_start_matches(['*', '`', ' ', '_']);
    // `8.35 : 1` is a factor, and `24% faster` is a change.
    let suffix = after.trim_end().trim_end_matches('*');
    let (unit, after) = match suffix {
        ": 1" if unit.is_empty() => ("x", ""),
        other if CHANGES.contains(&other) => (unit, ""),
        _ => (unit, after),
    };
    let ends =
        after.is_empty() || after.starts_with(['(', '±', ',', '✓']) || after.chars().all(is_mark);
    if value < 0.0 || !ends {
        return None;
    }
    let (scale, kind) = parse_unit(unit)?;
    let scale = scale * thousands;
    Some(Figure {
        value: value * scale * if negative { -1.0 } else { 1.0 },
        step: step * scale,
        coarse: step * scale * trailing_zero_step(written),
        kind,
        about: about || bound || thousands > 1.0,
        bound,
        text: cell.trim_matches(['*', '`', ' ']).to_owned(),
    })
}

/// Splits off `k` or `M` after a number, unless it is the beginning of a unit.
fn split_multiple(rest: &str) -> Option<(f64, &str)> {
    let rest = rest.trim_start_matches(' ');
    let factor = match rest.chars().next()? {
        'k' | 'K' => 1e3,
        'M' => 1e6,
        _ => return None,
    };
    let suffix = rest.get(1..)?;
    (!suffix.starts_with(char::is_alphanumeric)).then_some((factor, suffix))
}

/// The step of the last nonzero digit, in steps of the last digit.
fn trailing_zero_step(written: &str) -> f64 {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let trimmed = digits.trim_end_matches('0');
    if trimmed.is_empty() {
        return 1.0;
    }
    10_f64.powi(i32::try_from(digits.len() - trimmed.len()).unwrap_or(0))
}

/// What a time may be measured per: `op` in `ns/op`.
const EACH: [&str; 6] = ["op", "iter", "req", "request", "call", "msg"];

/// The scale and the kind of a unit.
pub fn parse_unit(unit: &str) -> Option<(f64, Kind)> {
    // `M` is a million, because `m` is a minute.
    if unit == "M" {
        return Some((1e6, Kind::Plain));
    }
    let lower = unit.to_lowercase();
    Some(match lower.as_str() {
        "" => (1.0, Kind::Plain),
        "%" => (1.0, Kind::Percent),
        "x" | "×" | "times" => (1.0, Kind::Factor),
        "k" => (1e3, Kind::Plain),
        "requests" | "reqs" | "req" | "users" | "vus" | "events" | "hits" => (1.0, Kind::Plain),
        name if is_rate_unit(name) => (1.0, Kind::Rate),
        _ => {
            let (unit, lower) = match lower.split_once('/') {
                Some((time, each)) if EACH.contains(&each) => (time, time),
                _ => (unit, lower.as_str()),
            };
            if let Some(scale) = parse_time_unit(unit).or_else(|| parse_time_unit(lower)) {
                return Some((scale, Kind::Time));
            }
            let (scale, found) = parse_data_unit(unit)?;
            match found {
                Unit::Bytes => (scale, Kind::Data),
                Unit::ByteRate | Unit::BitRate => (scale, Kind::DataRate),
                _ => return None,
            }
        }
    })
}

/// Joins digit groups: `34 185` becomes `34185`.
fn join_digit_groups(text: &str) -> String {
    let letters: Vec<char> = text.chars().collect();
    let digits = |from: usize| {
        letters[from.min(letters.len())..]
            .iter()
            .take_while(|letter| letter.is_ascii_digit())
            .count()
    };
    let mut out = String::new();
    for (at, letter) in letters.iter().enumerate() {
        let grouped = matches!(letter, ' ' | '\u{a0}' | '\u{202f}')
            && at > 0
            && letters[at - 1].is_ascii_digit()
            && digits(at + 1) == 3
            && !out.contains(['.', ',']);
        if !grouped {
            out.push(*letter);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{Kind, read};

    #[test]
    fn a_cell_is_one_figure() {
        for (text, expected) in [
            ("**12.5 ms**", Some((0.0125, Kind::Time))),
            ("34 185", Some((34185.0, Kind::Plain))),
            ("1,234 req/s", Some((1234.0, Kind::Rate))),
            ("-12.5%", Some((-12.5, Kind::Percent))),
            ("2.4x 🚀", Some((2.4, Kind::Factor))),
            ("12.1 ± 0.3", Some((12.1, Kind::Plain))),
            ("45 MB/s", Some((45e6, Kind::DataRate))),
            (
                "98039.22  requests per second",
                Some((98_039.22, Kind::Rate)),
            ),
            ("531 hits", Some((531.0, Kind::Plain))),
            ("250 ns/op", Some((250e-9, Kind::Time))),
            ("12.5k req/s", Some((12_500.0, Kind::Rate))),
            ("1.2M", Some((1.2e6, Kind::Plain))),
            ("3 MB", Some((3e6, Kind::Data))),
            ("5 → 3 ms", None),
            ("12-15 ms", None),
            ("1/2", None),
            ("none", None),
        ] {
            let found = read(text).map(|figure| (figure.value, figure.kind));
            match (found, expected) {
                (Some((value, kind)), Some((right, expected))) => {
                    assert!(
                        (value - right).abs() < 1e-9 && kind == expected,
                        "{text}: {value}"
                    );
                }
                _ => assert_eq!(found, expected, "{text}"),
            }
        }
    }
}
