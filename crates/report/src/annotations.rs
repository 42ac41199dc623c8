//! Annotations for GitHub Actions: lines of the form `::error title=…::text`, which a runner shows
//! with the job.

use crate::junit::Judged;

/// The lines about conditions of `--fail-on`.
pub fn condition_lines(judged: &[Judged]) -> Vec<String> {
    let mut lines = Vec::new();
    for (condition, failures) in judged {
        let name = condition.name();
        for found in &failures.found {
            lines.push(workflow_command(
                "error",
                &format!("--fail-on {name}"),
                found,
            ));
        }
        for open in &failures.open {
            lines.push(workflow_command(
                "warning",
                &format!("--fail-on {name} was not judged"),
                open,
            ));
        }
    }
    lines
}

/// One workflow command. Percent signs and line breaks are escaped; in properties, colons and commas as well.
pub fn workflow_command(level: &str, title: &str, text: &str) -> String {
    let data = |text: &str| {
        let text = text
            .replace('%', "%25")
            .replace('\r', "%0D")
            .replace('\n', "%0A");
        text.replace(|c: char| c.is_control(), "\u{fffd}")
    };
    let title = data(title).replace(':', "%3A").replace(',', "%2C");
    format!("::{level} title={title}::{}", data(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_an_annotation_early() {
        assert_eq!(
            workflow_command("error", "a,b: c%", "50 %\nnext: ::error::"),
            "::error title=a%2Cb%3A c%25::50 %25%0Anext: ::error::"
        );
    }
}
