//! A single address for every request, on a page whose work depends on the data.

use crate::finding::Level;
use crate::report::{Findings, Report};

/// A query with a fixed value, without a script or a list of targets.
pub fn same(report: &Report, findings: &mut Findings) {
    for block in &report.blocks {
        let Some(target) = &block.target else {
            continue;
        };
        let fixed = target
            .split_once('?')
            .is_some_and(|(_, query)| query.contains('=') && !query.contains(['$', '{']));
        let varied = block.command.as_ref().is_some_and(|command| {
            [
                " -s ",
                "--script",
                ".lua",
                "-targets",
                "--rand-regex-url",
                "urls-from-file",
            ]
            .iter()
            .any(|word| command.contains(word))
        });
        if !fixed || varied {
            continue;
        }
        findings.block(
            "same-request",
            Level::Note,
            block,
            block.first_line,
            [
                target.chars().take(140).collect(),
                "it is unknown how the work depends on the data: the same query was sent every time, and caches may have served it".to_owned(),
                "Send different values, in the proportions that users send them.".to_owned(),
            ],
        );
        return;
    }
}
