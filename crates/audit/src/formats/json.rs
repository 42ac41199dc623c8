//! JSON output, for other programs.

use serde_json::{Value, json as value};

use crate::block::{Block, Model};
use crate::quantity::{Quantity, Unit};
use crate::{Audit, Finding};

/// `{"findings": […], "blocks": […]}`: the findings, and the parsed blocks.
pub fn json(audits: &[Audit]) -> String {
    let findings: Vec<Value> = audits
        .iter()
        .flat_map(|audit| audit.findings.iter().map(finding_to_json))
        .collect();
    let blocks: Vec<Value> = audits
        .iter()
        .flat_map(|audit| {
            let numbered = audit.blocks.iter().enumerate();
            numbered.map(|(at, known)| block_to_json(&audit.file, at + 1, known))
        })
        .collect();
    let whole = value!({ "findings": findings, "blocks": blocks });
    format!("{whole:#}\n")
}

fn finding_to_json(finding: &Finding) -> Value {
    value!({
        "rule": finding.rule,
        "level": finding.level.name(),
        "file": finding.file,
        "line": finding.line,
        "block": finding.block,
        "conclusion": finding.conclusion,
        "evidence": finding.evidence,
        "arithmetic": finding.arithmetic,
        "advice": finding.advice,
    })
}

fn block_to_json(file: &str, number: usize, block: &Block) -> Value {
    let trends: Vec<Value> = block
        .trends
        .iter()
        .map(|trend| {
            let figures: serde_json::Map<String, Value> = trend
                .figures()
                .into_iter()
                .map(|(name, figure)| (name, quantity_to_json(figure)))
                .collect();
            value!({ "name": trend.name, "line": trend.line, "figures": figures })
        })
        .collect();
    let mut out = serde_json::Map::new();
    let mut put = |name: &str, figure: &Option<Quantity>| {
        if let Some(figure) = figure {
            out.insert(name.to_owned(), quantity_to_json(figure));
        }
    };
    put("users", &block.users);
    put("declared_time", &block.declared);
    put("elapsed", &block.elapsed);
    put("asked_rate", &block.requested_rate);
    put("requests", &block.requests);
    put("rate", &block.rate);
    put("iterations", &block.iterations);
    put("iteration_rate", &block.iteration_rate);
    put("dropped", &block.dropped);
    put("sent", &block.sent.total);
    put("received", &block.received.total);
    value!({
        "file": file,
        "block": number,
        "tool": block.tool.name(),
        "layout": block.layout,
        "lines": [block.first_line, block.last_line],
        "titles": block.titles,
        "model": match block.model {
            Model::Closed => "closed",
            Model::Open => "open",
            Model::Unknown => "unknown",
        },
        "figures": out,
        "trends": trends,
    })
}

fn quantity_to_json(figure: &Quantity) -> Value {
    value!({
        "value": figure.value,
        "unit": match figure.unit {
            Unit::Time => "s",
            Unit::Bytes => "B",
            Unit::ByteRate => "B/s",
            Unit::BitRate => "bit/s",
            Unit::Rate => "1/s",
            Unit::Count | Unit::Share => "1",
        },
        "step": figure.step,
        "text": figure.text,
        "line": figure.line,
    })
}
