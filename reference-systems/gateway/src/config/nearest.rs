//! The name that was probably meant.

/// The candidate closest to `written`, if at most a third of its letters differ.
pub fn nearest<'a>(
    written: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (distance(written, candidate), candidate))
        .filter(|(distance, candidate)| {
            *distance * 3 <= candidate.chars().count().max(written.chars().count())
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// `; did you mean 'x'?`, or the valid names.
pub fn way_out(written: &str, candidates: &[&str]) -> String {
    match nearest(written, candidates.iter().copied()) {
        Some(name) => format!("; did you mean '{name}'?"),
        None if candidates.is_empty() => String::new(),
        None => format!("; there are: {}", candidates.join(", ")),
    }
}

/// Number of letters to insert, remove, replace or swap with their neighbour (the optimal string
/// alignment distance), ignoring case.
fn distance(one: &str, other: &str) -> usize {
    let letters =
        |text: &str| -> Vec<char> { text.chars().flat_map(char::to_lowercase).take(64).collect() };
    let (one, other) = (letters(one), letters(other));
    let width = other.len() + 1;
    let mut rows = vec![0; (one.len() + 1) * width];
    let at = |row: usize, column: usize| row * width + column;
    for row in 0..=one.len() {
        for column in 0..width {
            rows[at(row, column)] = if row == 0 || column == 0 {
                row + column
            } else {
                let replaced = usize::from(one[row - 1] != other[column - 1]);
                let mut least = (rows[at(row - 1, column)] + 1)
                    .min(rows[at(row, column - 1)] + 1)
                    .min(rows[at(row - 1, column - 1)] + replaced);
                let swapped = row > 1
                    && column > 1
                    && one[row - 1] == other[column - 2]
                    && one[row - 2] == other[column - 1];
                if swapped {
                    least = least.min(rows[at(row - 2, column - 2)] + 1);
                }
                least
            };
        }
    }
    rows[at(one.len(), other.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_recognised() {
        let names = ["prefix", "regex", "hosts", "methods"];
        assert_eq!(nearest("perfix", names), Some("prefix"));
        assert_eq!(nearest("host", names), Some("hosts"));
        assert_eq!(nearest("Regexp", names), Some("regex"));
        assert_eq!(nearest("colour", names), None);
        assert_eq!(way_out("colour", &["a", "b"]), "; there are: a, b");
    }
}
