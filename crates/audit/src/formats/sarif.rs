//! SARIF 2.1.0 (OASIS) output. Code hosts show each finding next to the line it refers to.

use serde_json::{Value, json as value};

use crate::{Audit, RULES};

/// A SARIF log with one run: all rules and all results.
pub fn sarif(audits: &[Audit], version: &str) -> String {
    let rules: Vec<Value> = RULES
        .iter()
        .map(|rule| {
            value!({
                "id": rule.name,
                "shortDescription": { "text": rule.says },
            })
        })
        .collect();
    let results: Vec<Value> = audits
        .iter()
        .flat_map(|audit| &audit.findings)
        .map(|finding| {
            let index = RULES.iter().position(|rule| rule.name == finding.rule);
            value!({
                "ruleId": finding.rule,
                "ruleIndex": index,
                "level": finding.level.name(),
                "message": {
                    "text": format!("{}: {}. {}. {}", finding.conclusion, finding.evidence, finding.arithmetic, finding.advice),
                },
                "locations": [{
                    "physicalLocation": {
                        "artifactLocation": { "uri": path_to_uri(&finding.file) },
                        "region": { "startLine": finding.line.max(1) },
                    },
                }],
            })
        })
        .collect();
    let whole = value!({
        "version": "2.1.0",
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "runs": [{
            "tool": { "driver": { "name": "plimsoll audit", "version": version, "rules": rules } },
            "results": results,
        }],
    });
    format!("{whole:#}\n")
}

/// Converts a path to a relative reference (RFC 3986) and percent-encodes reserved characters.
fn path_to_uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
