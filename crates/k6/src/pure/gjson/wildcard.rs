//! Wildcards: `*` matches any characters, `?` matches any single character, and `\` makes the next character literal.

/// Whether all of `text` matches `pattern`.
///
/// Greedy with a single backtracking point, so for any pattern the time is at most proportional to the product of the
/// two lengths.
pub(super) fn matches(text: &str, pattern: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let pattern = compile(pattern);
    let (mut t, mut p) = (0, 0);
    // The position of the last star, and how much of the text it has matched so far.
    let mut star: Option<(usize, usize)> = None;
    while let Some(&c) = text.get(t) {
        match pattern.get(p) {
            Some(Piece::Many) => {
                star = Some((p, t));
                p += 1;
            }
            Some(piece) if *piece == Piece::One || *piece == Piece::Char(c) => {
                t += 1;
                p += 1;
            }
            _ => {
                let Some((star_p, star_t)) = star else {
                    return false;
                };
                star = Some((star_p, star_t + 1));
                t = star_t + 1;
                p = star_p + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|piece| *piece == Piece::Many)
}

#[derive(PartialEq)]
enum Piece {
    Many,
    One,
    Char(char),
}

fn compile(pattern: &str) -> Vec<Piece> {
    let mut chars = pattern.chars();
    let mut pieces = Vec::with_capacity(pattern.len());
    while let Some(c) = chars.next() {
        pieces.push(match c {
            '*' => Piece::Many,
            '?' => Piece::One,
            '\\' => Piece::Char(chars.next().unwrap_or('\\')),
            _ => Piece::Char(c),
        });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn stars_and_question_marks() {
        for (text, pattern, expected) in [
            ("Dale", "D*", true),
            ("Dale", "*", true),
            ("", "*", true),
            ("", "?", false),
            ("Sara", "*a*", true),
            ("Alex", "*a*", false),
            ("abcabd", "*abd", true),
            ("abcabdx", "*abd", false),
            ("é", "?", true),
            ("a*b", "a\\*b", true),
            ("axb", "a\\*b", false),
        ] {
            assert_eq!(matches(text, pattern), expected, "{text} {pattern}");
        }
    }

    #[test]
    fn a_malicious_pattern_terminates_quickly() {
        let text = "a".repeat(5_000);
        let pattern = "*a".repeat(200) + "b";
        assert!(!matches(&text, &pattern));
    }
}
