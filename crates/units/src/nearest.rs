//! The name that was probably meant.

/// The candidate that is closest to `written`, if it is close enough to suggest: case is ignored,
/// and at most a third of the letters may differ. The first of equally close ones wins, so callers
/// order candidates by importance.
///
/// `written` is outside input of any length; one that is longer than any sensible key costs nothing
/// and gives `None`.
pub fn nearest<'a, I>(written: &str, candidates: I) -> Option<&'a str>
where
    I: IntoIterator<Item = &'a str>,
{
    const LONGEST: usize = 64;
    let written: Vec<char> = written
        .chars()
        .take(LONGEST + 1)
        .flat_map(char::to_lowercase)
        .collect();
    if written.is_empty() || written.len() > LONGEST {
        return None;
    }
    let mut best: Option<(usize, &'a str)> = None;
    for candidate in candidates {
        let letters: Vec<char> = candidate
            .chars()
            .take(LONGEST)
            .flat_map(char::to_lowercase)
            .collect();
        let allowed = (written.len().max(letters.len()) / 3).max(1);
        let distance = distance(&written, &letters);
        let nearer = best.is_none_or(|(d, _)| distance < d);
        if distance <= allowed && nearer && distance < letters.len() {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// Optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours
/// cost one each (Damerau 1964, without editing a substring twice).
fn distance(a: &[char], b: &[char]) -> usize {
    let width = b.len() + 1;
    let mut two_ago: Vec<usize> = vec![0; width];
    let mut ago: Vec<usize> = (0..width).collect();
    let mut row = vec![0; width];
    for (i, &x) in a.iter().enumerate() {
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let replaced = ago[j] + usize::from(x != y);
            let mut least = replaced.min(ago[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && x == b[j - 1] && a[i - 1] == y {
                least = least.min(two_ago[j - 1] + 1);
            }
            row[j + 1] = least;
        }
        std::mem::swap(&mut two_ago, &mut ago);
        std::mem::swap(&mut ago, &mut row);
    }
    ago[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_slip_of_a_key() {
        let keys = ["duration", "iterations", "stages", "vus", "maxVUs"];
        assert_eq!(nearest("durations", keys), Some("duration"));
        assert_eq!(nearest("druation", keys), Some("duration"));
        assert_eq!(nearest("VUS", keys), Some("vus"));
        assert_eq!(nearest("maxVus", keys), Some("maxVUs"));
        assert_eq!(nearest("vu", keys), Some("vus"));
    }

    #[test]
    fn stays_silent_about_the_far_fetched() {
        let keys = ["duration", "iterations", "vus"];
        assert_eq!(nearest("somethingElse", keys), None);
        assert_eq!(nearest("", keys), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), keys), None);
    }

    #[test]
    fn a_swap_costs_one() {
        let a: Vec<char> = "abcd".chars().collect();
        let b: Vec<char> = "abdc".chars().collect();
        assert_eq!(distance(&a, &b), 1);
        assert_eq!(distance(&a, &a), 0);
        assert_eq!(distance(&a, &[]), 4);
        assert_eq!(distance(&[], &b), 4);
    }
}
