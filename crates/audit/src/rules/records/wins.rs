//! "A wins 7 of 9", compared with the wins in the table.

use super::contest::{Contest, find_contests, is_named};
use super::subject::is_uncertain;
use super::warn;
use crate::pattern::{Pattern, group, pattern};
use crate::report::{Findings, Report};
use crate::rules::prose::shorten;
use crate::rules::tables::cell_at;

static WINS: Pattern = pattern!(
    r"(?i)^(.*?)\b(?:wins|won|leads|led|is (?:the )?(?:fastest|faster|best)|was (?:the )?(?:fastest|faster|best)|comes out ahead|outperforms [^,.;]*?|beats [^,.;]*?|takes)\s+(?:in\s+|on\s+|at\s+)?(?:all\s+)?(\d{1,3})\s*(?:/|of|out of)\s*(?:the\s+|all\s+)?(\d{1,3})\b"
);
static WINS_BEHIND: Pattern = pattern!(
    r"(?i)^\W*([^:]{2,40}?)\s*(?:wins)?\s*:\s*\W*(\d{1,3})\s*(?:/|of|out of)\s*(\d{1,3})\s*(?:wins|tests|benchmarks|categories|scenarios|workloads)\b"
);
pub fn check_sentence(report: &Report, text: &str, line: usize, findings: &mut Findings) {
    if text.len() > 300 || is_uncertain(text) {
        return;
    }
    let plain = replace_number_words(&text.replace(['*', '`', '"'], ""));
    if !plain.contains(|letter: char| letter.is_ascii_digit()) {
        return;
    }
    for found in [WINS.first(&plain), WINS_BEHIND.first(&plain)]
        .into_iter()
        .flatten()
    {
        let number = |at: usize| group(&found, at).parse::<usize>();
        if let (Ok(claimed), Ok(all)) = (number(2), number(3)) {
            check_wins(
                report,
                text,
                line,
                (group(&found, 1), claimed, all),
                findings,
            );
        }
    }
}

/// Replaces numbers in words before "of": "seven of nine" becomes "7 of 9".
pub fn replace_number_words(text: &str) -> String {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    let lower = text.to_lowercase();
    if !(lower.contains(" of ") && WORDS.iter().any(|word| lower.contains(word))) {
        return text.to_owned();
    }
    let words: Vec<&str> = text.split(' ').collect();
    let value = |word: &str| {
        let plain = word
            .trim_matches(|letter: char| !letter.is_alphanumeric())
            .to_lowercase();
        WORDS.iter().position(|known| *known == plain)
    };
    let skips = |word: &&str| matches!(word.to_lowercase().as_str(), "of" | "the" | "all" | "out");
    let mut out = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before_of = words
            .get(at + 1)
            .is_some_and(|next| matches!(*next, "of" | "out"));
        let behind_of = words[..at]
            .iter()
            .rev()
            .take_while(|word| skips(word))
            .any(|word| *word == "of");
        match value(word).filter(|_| before_of || behind_of) {
            Some(value) => out.push(value.to_string()),
            None => out.push((*word).to_owned()),
        }
    }
    out.join(" ")
}

/// Checks "A wins 7 of 9" against the tables of the page with nine rows.
fn check_wins(
    report: &Report,
    text: &str,
    line: usize,
    (who, claimed, all): (&str, usize, usize),
    findings: &mut Findings,
) {
    let names = |contest: &Contest, text: &str| {
        let mut rivals = contest.rivals.iter();
        rivals.any(|(_, rival)| {
            is_named(who, rival, &contest.rivals) && is_named(text, rival, &contest.rivals)
        })
    };
    let contests: Vec<Contest> = find_contests(report, |table| table.rows.len() == all)
        .filter(|contest| names(contest, who))
        .collect();
    // The only table with this number of rows.
    let [contest] = &contests[..] else {
        return;
    };
    let mut sure = 0;
    let mut possible = 0;
    for (_, row) in &contest.table.rows {
        let Some((figures, more)) = contest.figures(row) else {
            // If the figures of a row cannot be compared, its winner is unknown unless a column names it.
            let named = contest
                .winner
                .is_some_and(|at| names(contest, cell_at(row, at)));
            possible += usize::from(named || contest.winner.is_none());
            sure += usize::from(named);
            continue;
        };
        let best = Contest::best_rivals(&figures, more);
        let mine = best
            .iter()
            .any(|rival| is_named(who, rival, &contest.rivals));
        possible += usize::from(mine);
        sure += usize::from(mine && best.len() == 1);
    }
    if (sure..=possible).contains(&claimed) {
        return;
    }
    warn(
        "total-mismatch",
        line,
        [
            format!("\"{}\"; the table has {all} rows", shorten(text)),
            format!("it has the best figure in {possible} of them, not in {claimed}"),
            "Count the rows again.".to_owned(),
        ],
        findings,
    );
}

#[cfg(test)]
mod tests {
    use super::replace_number_words;

    #[test]
    fn numbers_in_words_are_read_next_to_of() {
        for (text, expected) in [
            ("It wins seven of nine tests.", "It wins 7 of 9 tests."),
            ("Two of the three were slow.", "2 of the 3 were slow."),
            ("One test of many was slow.", "One test of many was slow."),
            ("no one is first", "no one is first"),
        ] {
            assert_eq!(replace_number_words(text), expected);
        }
    }
}
