//! Shows what a lab would do, without running it.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

use crate::resolve::{Cell, Lab, design};

/// The plan as JSON.
pub fn json(lab: &Lab) -> Value {
    json!({
        "schema": "plimsoll/lab-plan/1",
        "title": lab.title,
        "question": lab.question,
        "form": lab.form.name(),
        "keep": lab.keep,
        "pause": plimsoll_units::duration::format(lab.pause),
        "axes": lab.axes.iter().map(|axis| json!({
            "name": axis.name,
            "values": axis.values().collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "runs": runs(lab),
        "at_least": plimsoll_units::duration::format(least(lab)),
        "cells": lab.matrix(),
        "same_cell": lab.same_cell().map(|(cell, copy)| json!({ "cell": cell.name, "copy": copy })),
        "design": design::of(lab),
        "variants": lab.variants,
        "objectives": lab.objectives,
        "compared": lab.compared,
        "asked": lab.questions,
        "tables": lab.tables,
        "published": lab.published,
        "avoids": lab.avoided,
    })
}

/// The plan as text: a list of cells, and all effective values.
pub fn text(lab: &Lab) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    let _ = write_plan(lab, &mut out);
    out
}

fn write_plan(lab: &Lab, out: &mut String) -> std::fmt::Result {
    let chosen: Vec<&Cell> = lab.matrix().iter().filter(|cell| cell.chosen).collect();
    writeln!(out, "{}", lab.title)?;
    if !lab.question.is_empty() {
        writeln!(out, "{}", lab.question)?;
    }
    writeln!(
        out,
        "\n{} form: {} of {} cells in {} variants, {} runs, {} of load and {} between runs at least",
        lab.form.name(),
        chosen.len(),
        lab.matrix().len(),
        variants_of(lab).len(),
        runs(lab),
        plimsoll_units::duration::format(load(lab)),
        plimsoll_units::duration::format(lab.pause),
    )?;
    if let Some((cell, _)) = lab.same_cell() {
        writeln!(
            out,
            "Measured twice, to know how much the machine alone varies: {}",
            cell.name
        )?;
    }
    if let Some(design) = design::of(lab) {
        writeln!(out, "Comparisons: {}", design.text())?;
    }
    writeln!(out, "\nCells")?;
    for cell in &lab.cells {
        let extent = match (cell.chosen, cell.load.work) {
            (false, _) => "not part of this form".to_owned(),
            (true, None) if cell.load.is_search() => format!(
                "variant {}, {} × a search of up to {}",
                cell.variant + 1,
                times(cell),
                plimsoll_units::duration::format(cell.load.within)
            ),
            (true, Some(work)) => format!(
                "variant {}, {} × {} × {}",
                cell.variant + 1,
                times(cell),
                work.workers,
                work.loops
            ),
            (true, None) => format!(
                "variant {}, {} × ({} + {})",
                cell.variant + 1,
                times(cell),
                plimsoll_units::duration::format(cell.load.warmup),
                plimsoll_units::duration::format(cell.load.duration)
            ),
        };
        writeln!(out, "  {:>3}  {}  ({extent})", cell.number, cell.name)?;
    }
    for number in variants_of(lab) {
        if let Some(setup) = lab.variants.get(number) {
            writeln!(out, "\nVariant {}", number + 1)?;
            flat(out, "  ", &serde_json::to_value(setup).unwrap_or_default())?;
        }
    }
    for cell in chosen {
        writeln!(out, "\nCell {}: {}", cell.number, cell.name)?;
        let value = json!({
            "link": cell.link, "sanity": cell.sanity, "load": cell.load, "observe": cell.observe,
        });
        flat(out, "  ", &value)?;
    }
    for objective in &lab.objectives {
        writeln!(out, "\nObjective: {}", objective.text)?;
    }
    Ok(())
}

/// For example `3 restarts` or `3 restarts × 2 runs`.
fn times(cell: &Cell) -> String {
    let counted = |count: u32, what: &str| match count {
        1 => format!("1 {what}"),
        _ => format!("{count} {what}s"),
    };
    let mut restarts = counted(cell.load.restarts, "restart");
    if let Some(until) = &cell.load.until {
        restarts = format!(
            "until {} is known within {}%, at most {restarts}",
            until.figure,
            until.precision * 100.0
        );
    }
    match cell.load.repeats {
        1 => restarts,
        repeats => format!("{restarts} × {}", counted(repeats, "run")),
    }
}

/// A line for each value: its path and the value.
fn flat(out: &mut String, path: &str, value: &Value) -> std::fmt::Result {
    let below = |name: &str| match path.ends_with(' ') {
        true => format!("{path}{name}"),
        false => format!("{path}.{name}"),
    };
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                flat(out, &below(name), value)?;
            }
            Ok(())
        }
        Value::Array(items) if items.iter().any(|item| item.is_object()) => {
            for (at, item) in items.iter().enumerate() {
                let name = item["name"]
                    .as_str()
                    .map_or_else(|| (at + 1).to_string(), str::to_owned);
                flat(out, &below(&name), item)?;
            }
            Ok(())
        }
        Value::Null => Ok(()),
        Value::Array(items) if items.is_empty() => Ok(()),
        Value::String(text) if text.contains('\n') => {
            writeln!(out, "{path} = ({} lines)", text.lines().count())
        }
        _ => writeln!(out, "{path} = {value}"),
    }
}

/// The variants of the selected cells.
pub fn variants_of(lab: &Lab) -> Vec<usize> {
    let mut variants: Vec<usize> = Vec::new();
    for cell in lab.cells.iter().filter(|cell| cell.chosen) {
        if !variants.contains(&cell.variant) {
            variants.push(cell.variant);
        }
    }
    variants
}

/// The number of runs.
pub fn runs(lab: &Lab) -> u32 {
    let chosen = lab.cells.iter().filter(|cell| cell.chosen);
    chosen.map(|cell| cell.load.runs()).sum()
}

/// The total duration of all loads. Fixed work and searches are not included, because their
/// duration is unknown.
pub fn load(lab: &Lab) -> Duration {
    let chosen = lab.cells.iter().filter(|cell| cell.chosen);
    chosen
        .filter(|cell| !cell.load.is_open_ended())
        .map(|cell| cell.load.whole().saturating_mul(cell.load.runs()))
        .fold(Duration::ZERO, Duration::saturating_add)
}

/// Minimum duration of the lab.
pub fn least(lab: &Lab) -> Duration {
    load(lab).saturating_add(lab.pause.saturating_mul(runs(lab)))
}
