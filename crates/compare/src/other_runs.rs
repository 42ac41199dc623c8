//! The stored runs that a history does not show.

use plimsoll_results::store::StoredRun;

/// The number of digits of a hash that are shown.
const HASH_LENGTH: usize = 8;
/// Maximum number of other configurations to list, from the latest to the oldest.
const MAX_LISTED: usize = 5;

/// Runs that a history leaves out, because they have another configuration or are from other machines.
#[derive(Debug, Default, PartialEq)]
pub struct OtherRuns {
    /// The hash of each other configuration, the command of its latest run, and its number of runs. The latest comes first.
    configurations: Vec<(String, String, usize)>,
    /// The number of runs of the same configuration from other machines.
    elsewhere: usize,
}

impl OtherRuns {
    /// The runs of `all`, oldest first, that are not among those of the configuration `shown`.
    pub fn of(all: &[StoredRun], shown: &str, is_shown: impl Fn(&StoredRun) -> bool) -> OtherRuns {
        let mut others = OtherRuns::default();
        for run in all.iter().rev().filter(|run| !is_shown(run)) {
            if run.configuration_hash == shown {
                others.elsewhere += 1;
                continue;
            }
            let mut known = others.configurations.iter_mut();
            match known.find(|(hash, ..)| *hash == run.configuration_hash) {
                Some((.., count)) => *count += 1,
                None => {
                    let hash = run.configuration_hash.clone();
                    others.configurations.push((hash, run.command.clone(), 1));
                }
            }
        }
        others
    }

    /// How to show them, as lines; empty if there are none.
    pub fn text(&self) -> String {
        let runs = |count: usize| match count {
            1 => "1 run".to_owned(),
            _ => format!("{count} runs"),
        };
        let mut text = String::new();
        if self.elsewhere > 0 {
            let count = runs(self.elsewhere);
            text += &format!(
                "not shown: {count} of this configuration from other machines (--any-environment)\n"
            );
        }
        for (hash, command, count) in self.configurations.iter().take(MAX_LISTED) {
            let (count, hash) = (runs(*count), short(hash));
            text += &format!(
                "not shown: {count} of another configuration (--configuration {hash}): {command}\n"
            );
        }
        let more = self.configurations.len().saturating_sub(MAX_LISTED);
        if more > 0 {
            text += &format!("not shown: the runs of {more} more configurations\n");
        }
        text
    }
}

/// The start of a hash.
pub fn short(hash: &str) -> &str {
    hash.get(..HASH_LENGTH).unwrap_or(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(hash: &str, fingerprint: &str) -> StoredRun {
        StoredRun {
            id: 1,
            started: "2026-01-01T00:00:00Z".to_owned(),
            kind: "http".to_owned(),
            command: format!("plimsoll http {hash}"),
            configuration_hash: hash.repeat(8),
            fingerprint: fingerprint.to_owned(),
            verdict: "valid".to_owned(),
            figures: Vec::new(),
        }
    }

    #[test]
    fn runs_that_are_not_shown_are_counted() {
        let all = [
            run("aa", "x"),
            run("bb", "x"),
            run("aa", "x"),
            run("cc", "y"),
            run("cc", "x"),
        ];
        let shown = "cc".repeat(8);
        let is_shown = |run: &StoredRun| run.configuration_hash == shown && run.fingerprint == "x";
        let others = OtherRuns::of(&all, &shown, is_shown);
        assert_eq!(
            others.text(),
            "not shown: 1 run of this configuration from other machines (--any-environment)\n\
             not shown: 2 runs of another configuration (--configuration aaaaaaaa): plimsoll http aa\n\
             not shown: 1 run of another configuration (--configuration bbbbbbbb): plimsoll http bb\n"
        );
        assert_eq!(OtherRuns::of(&all, &shown, |_| true).text(), "");
    }
}
