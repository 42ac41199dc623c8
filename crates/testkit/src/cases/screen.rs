//! The stdout of a run: the summary and, in `loud` cases, the banner and the progress.

use std::sync::LazyLock;

use regex::Regex;

use super::case::Case;
use super::logs::PORT_TAKEN;
use super::normalize::Normalizer;

/// The lines of the screen. Times, rates and byte counts are replaced with `#`, runs of spaces and
/// dots are shortened, and the banner and intermediate progress are removed.
pub fn lines(text: &str, case: &Case, normalizer: &Normalizer) -> Vec<String> {
    let mut text = text;
    if case.settings.loud
        && let Some(start) = text.find("     execution:")
    {
        text = text.split_at(start).1;
    }
    let mut lines: Vec<String> = Vec::new();
    let all: Vec<&str> = text.lines().collect();
    let last_running = all.iter().rposition(|line| line.starts_with("running ("));
    for (number, line) in all.iter().enumerate() {
        // Progress is printed repeatedly. Only its last state is compared.
        let progress = line.starts_with("running (") || is_bar(line);
        if progress && Some(number) < last_running {
            continue;
        }
        let line = without_measured_values(normalizer.text(line).trim_end());
        if !line.trim().is_empty() && !line.contains(PORT_TAKEN) {
            lines.push(line);
        }
    }
    lines
}

fn is_bar(line: &str) -> bool {
    static BAR: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"^[\w\-]+ +[•✓✗↓ ] ?\[[ =>\-]*\s*[\d%]*\s*[ =>\-]*\]").ok());
    BAR.as_ref().is_some_and(|bar| bar.is_match(line))
}

/// Replaces measured values. Configured values stay, for example a scenario's duration in the
/// banner.
fn without_measured_values(line: &str) -> String {
    static RULES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            // The dots extend to the longest name, which may differ.
            (r"\.{3,}:", ":"),
            (
                r"(\s|=|\()-?\d[\d.]*(?:ns|µs|us|ms|s|m|h)(?:\d[\d.]*(?:ms|s|m))*",
                "${1}#",
            ),
            (r"-?\d[\d.]*(?:e[+-]?\d+)?/s", "#/s"),
            (r"-?\d[\d.]* (?:B|kB|MB|GB)(/s)?", "#B$1"),
            (r"\d+m\d\d\.\ds", "#"),
            (r"(\S) {2,}", "$1 "),
        ]
        .into_iter()
        .filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, with)))
        .collect()
    });
    let is_configured = line.contains("max duration") || line.trim_start().starts_with("* ");
    let mut line = line.to_owned();
    for (rule, with) in RULES
        .iter()
        .skip(if is_configured { usize::MAX } else { 0 })
    {
        line = rule.replace_all(&line, *with).into_owned();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_values_are_replaced() {
        assert_eq!(
            without_measured_values(
                "    http_req_duration....: avg=1.75ms   min=169.6µs  p(90)=1m3.5s"
            ),
            "    http_req_duration: avg=# min=# p(90)=#"
        );
        assert_eq!(
            without_measured_values("    checks_total.......: 8      1647.415586/s"),
            "    checks_total: 8 #/s"
        );
        assert_eq!(
            without_measured_values("    data_sent....: 1.2 kB 3 B/s"),
            "    data_sent: #B #B/s"
        );
    }

    #[test]
    fn configured_values_are_not_replaced() {
        let line =
            "   * default: 1 iterations for each of 1 VUs (maxDuration: 10m0s, gracefulStop: 30s)";
        assert_eq!(without_measured_values(line), line);
    }

    #[test]
    fn a_progress_bar_is_recognized() {
        assert!(is_bar(
            "default ✓ [ 100% ] 2 VUs  00m00.0s/10m0s  4/4 shared iters"
        ));
        assert!(is_bar("default   [  50% ] 2 VUs  00m00.5s/1s"));
        assert!(!is_bar("    ✓ ok"));
    }
}
