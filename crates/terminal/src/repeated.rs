//! Folds repeated log lines, so that the log stays readable if all requests fail.

use std::collections::HashMap;

use ::log::Level;

/// Maximum number of lines of each kind to show.
const MAX_SHOWN: u64 = 10;
/// Maximum number of different kinds to count. Further lines are not folded.
const MAX_KINDS: usize = 256;
/// Maximum length of the part of a line that is compared, in bytes.
const MAX_COMPARED_LENGTH: usize = 400;

/// Groups the lines of the log by kind. Lines that differ only in numbers are of the same kind.
#[derive(Debug, Default)]
pub struct Repeated {
    kinds: HashMap<(Level, String), Kind>,
}

#[derive(Debug)]
struct Kind {
    count: u64,
    /// The number of lines omitted since the last report.
    left_out: u64,
    /// The position in the order in which the kinds first occurred.
    number: usize,
    message: String,
    fields: Vec<(String, String)>,
}

/// A log line that reports the omitted lines of a kind.
#[derive(Debug, PartialEq, Eq)]
pub struct Folded {
    pub level: Level,
    /// `… and 10,355 more like this: Request Failed`.
    pub message: String,
    pub fields: Vec<(String, String)>,
}

impl Repeated {
    /// Whether to show a line.
    pub fn is_shown(&mut self, level: Level, message: &str, fields: &[(&str, &str)]) -> bool {
        let key = (level, kind_of(message, fields));
        let is_full = self.kinds.len() >= MAX_KINDS;
        let number = self.kinds.len();
        if is_full && !self.kinds.contains_key(&key) {
            return true;
        }
        let kind = self.kinds.entry(key).or_insert_with(|| Kind {
            count: 0,
            left_out: 0,
            number,
            message: message.to_owned(),
            fields: fields
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
        });
        kind.count += 1;
        let is_shown = kind.count <= MAX_SHOWN;
        kind.left_out += u64::from(!is_shown);
        is_shown
    }

    /// Returns one line for each kind with omitted lines since the previous call.
    pub fn take(&mut self) -> Vec<Folded> {
        let left_out = self.kinds.iter_mut().filter(|(_, kind)| kind.left_out > 0);
        let mut folded: Vec<(usize, Folded)> = left_out
            .map(|((level, _), kind)| {
                let count = grouped(std::mem::take(&mut kind.left_out));
                let line = Folded {
                    level: *level,
                    message: format!("… and {count} more like this: {}", kind.message),
                    fields: kind.fields.clone(),
                };
                (kind.number, line)
            })
            .collect();
        folded.sort_by_key(|(number, _)| *number);
        folded.into_iter().map(|(_, line)| line).collect()
    }
}

/// The line without its digits.
fn kind_of(message: &str, fields: &[(&str, &str)]) -> String {
    let mut kind = String::new();
    let texts = fields.iter().flat_map(|(name, value)| [*name, *value]);
    for text in std::iter::once(message).chain(texts) {
        let mut was_digit = false;
        for char in text.chars() {
            let is_digit = char.is_ascii_digit();
            if !(is_digit && was_digit) {
                kind.push(if is_digit { '0' } else { char });
            }
            was_digit = is_digit;
            if kind.len() >= MAX_COMPARED_LENGTH {
                return kind;
            }
        }
        kind.push('\0');
    }
    kind
}

/// Formats a count with commas between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_differ_only_in_numbers_are_folded() {
        let mut repeated = Repeated::default();
        let mut shown = 0;
        for number in 0..10_365 {
            let error = format!("Get \"http://h/{number}\": connection refused");
            let fields = [("error", error.as_str())];
            shown += u64::from(repeated.is_shown(Level::Warn, "Request Failed", &fields));
        }
        assert!(repeated.is_shown(Level::Error, "Request Failed", &[]));
        assert_eq!(shown, MAX_SHOWN);
        let folded = repeated.take();
        assert_eq!(folded.len(), 1);
        assert_eq!(
            folded[0].message,
            "… and 10,355 more like this: Request Failed"
        );
        assert_eq!(folded[0].fields[0].0, "error");
        assert_eq!(repeated.take(), []);
        assert!(!repeated.is_shown(
            Level::Warn,
            "Request Failed",
            &[("error", "Get \"http://h/7\": connection refused")]
        ));
        assert_eq!(
            repeated.take()[0].message,
            "… and 1 more like this: Request Failed"
        );
    }

    #[test]
    fn kinds_above_the_limit_are_shown_without_using_memory() {
        let mut repeated = Repeated::default();
        for number in 0..2_000 {
            let message: String = std::iter::repeat_n('x', number + 1).collect();
            for _ in 0..3 {
                assert!(
                    repeated.is_shown(Level::Warn, &message, &[])
                        || number >= MAX_COMPARED_LENGTH - 1
                );
            }
        }
        assert!(repeated.kinds.len() <= MAX_KINDS);
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
    }
}
