//! The marks in plots: a fleet lost an agent, or other agents took over its load.

use plimsoll_plots::number;
use plimsoll_results::record::Mark;

/// Maximum number of marks that are explained one by one.
const EXPLAINED: usize = 8;

/// The times of marks, in seconds from the left edge of a plot on which their run starts at `from`.
pub fn mark_times(from: f64, marks: &[Mark]) -> impl Iterator<Item = f64> {
    marks.iter().map(move |mark| from + mark.at_seconds)
}

/// A sentence that explains the marks of these runs: the title, and what happened at each mark. The numbers of marks
/// continue from run to run. Runs have names if there are several. The sentence starts with a space. Empty without marks.
pub fn explain_marks<'a>(
    title: &str,
    runs: impl IntoIterator<Item = (String, &'a [Mark])>,
) -> String {
    let mut all = Vec::new();
    for (name, marks) in runs {
        let run = if name.is_empty() { name } else { name + ", " };
        for mark in marks {
            let (number, at) = (all.len() + 1, number::tick(mark.at_seconds.round()));
            all.push(format!("{number}: {run}at {at} s, {}", mark.text));
        }
    }
    if all.is_empty() {
        return String::new();
    }
    let rest = match all.len().saturating_sub(EXPLAINED) {
        0 => String::new(),
        rest => format!("; and {rest} more"),
    };
    all.truncate(EXPLAINED);
    format!(" {title}: {}{rest}.", all.join("; "))
}
