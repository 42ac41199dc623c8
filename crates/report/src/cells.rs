//! One section per cell, with the results of each run.

use plimsoll_plots::{LimitPlot, PlotWidth, Trial, number};
use plimsoll_results::lab::{Cell, LabResult, Repeat, Used};

use crate::document::{Block, Detail, Head, Plot, Section, Table, Words};
use crate::matrix::is_shown;
use crate::method::format_bytes;
use crate::naming::{cell_id, describe_cell, describe_state, figures, is_believed};
use crate::objectives::format_share;
use crate::series;

/// The sections, in the order of the matrix.
pub fn sections(result: &LabResult) -> Vec<Section> {
    result
        .cells
        .iter()
        .filter(|cell| is_shown(cell))
        .map(|cell| section(result, cell))
        .collect()
}

fn section(result: &LabResult, cell: &Cell) -> Section {
    let id = cell_id(result, cell);
    let name = describe_cell(result, cell);
    let mut blocks = vec![
        Block::Prose(verdict_words(cell)),
        Block::Prose(Words::plain("Its name in the lab: ").code(cell.name.clone())),
    ];
    if !cell.findings.is_empty() {
        blocks.push(Block::Points(
            cell.findings
                .iter()
                .map(|finding| {
                    Words::new()
                        .strong(finding.level.clone())
                        .text(" ")
                        .code(finding.rule.clone())
                        .text(format!(": {}", finding.text))
                })
                .collect(),
        ));
    }
    let detail = |detail: Detail, found: Vec<Block>| Block::Detail(detail, found);
    blocks.extend(limit_plot(cell, &id));
    if let Some(plot) = series::over_time(cell, format!("Latency, rate and failures of {name}")) {
        blocks.push(detail(
            Detail::OverTime,
            vec![Block::plot(Plot {
                name: format!("{id}-time"),
                caption: format!(
                    "All runs end to end, by second; shaded seconds are warm-up.{}",
                    series::dashed_lines(cell)
                ),
                narrow: plot.draw(PlotWidth::Narrow),
                wide: None,
                series: series::plot_data(cell),
            })],
        ));
    }
    if let Some(plot) =
        series::heat_map(cell, format!("Every request of {name} by time and latency"))
    {
        blocks.push(detail(
            Detail::HeatMap,
            vec![Block::plot(Plot {
                name: format!("{id}-heat"),
                caption: format!(
                    "Every request, by end time and duration.{}",
                    series::dashed_lines(cell)
                ),
                narrow: plot.draw(PlotWidth::Narrow),
                wide: None,
                series: None,
            })],
        ));
    }
    for (kind, found) in [
        (Detail::Figures, figure_table(cell)),
        (Detail::Rest, run_table(cell)),
        (Detail::Rest, facts_table(cell)),
        (Detail::Resources, used_table(cell)),
    ] {
        blocks.extend(found.map(|block| detail(kind, vec![block])));
    }
    let mut outputs = raw_outputs(cell);
    let later = outputs.split_off(outputs.len().min(1));
    blocks.push(detail(Detail::Output, outputs));
    blocks.push(detail(Detail::LaterOutput, later));
    blocks.retain(|block| !block.is_empty());
    Section {
        id,
        title: Words::plain(name).text(" ").verdict(describe_state(cell).0),
        blocks,
    }
}

/// The verdict on the cell's figures, with its reasons.
fn verdict_words(cell: &Cell) -> Words {
    let (_, why) = describe_state(cell);
    let words = if !why.is_empty() {
        Words::plain(why)
    } else {
        let generator = match is_too_short(cell) {
            true => "The runs were too short to check whether the generator was the limit",
            false => "The generator was not the limit",
        };
        Words::plain(match cell.findings.is_empty() {
            true => format!("{generator}, and the audit found no problem with the figures."),
            false => format!("{generator}. The audit found:"),
        })
    };
    if !is_believed(cell) && !cell.repeats.is_empty() {
        words.text("  Its figures are not shown; its runs are below.")
    } else {
        words
    }
}

/// Whether a run of the cell was too short to check the generator, as its verdict says.
fn is_too_short(cell: &Cell) -> bool {
    let mut reasons = cell.repeats.iter().flat_map(|run| &run.generator.reasons);
    reasons.any(|(_, text)| text.contains(plimsoll_results::record::TOO_SHORT))
}

fn figure_table(cell: &Cell) -> Option<Block> {
    let found = figures(cell);
    if found.is_empty() {
        return None;
    }
    let runs = found
        .iter()
        .map(|figure| figure.repeats.len())
        .max()
        .unwrap_or(0);
    let mut head = vec![
        Head::words("figure"),
        Head::figures("value, 95 % interval"),
        Head::figures("with warm-up"),
    ];
    head.extend((1..=runs).map(|run| Head::figures(format!("run {run}"))));
    let rows = found
        .iter()
        .map(|figure| {
            let value = Words::new().figure(figure.value, figure.interval, &figure.unit);
            let too_few = cell.why_not_reliable(&figure.name);
            let value = match (too_few, &figure.interval, &figure.why_no_interval) {
                (Some(too_few), ..) => value.text(format!("; not reliable: {}", too_few.text())),
                (None, None, Some(why)) => value.text(format!("; no interval: {why}")),
                _ => value,
            };
            let place = number::Place::of(figure.value, figure.interval);
            let mut row = vec![
                Words::plain(figure.label.clone()),
                value,
                Words::plain(figure.with_warm_up.map_or_else(
                    || "–".to_owned(),
                    |value| format!("{} {}", place.print(value), figure.unit),
                )),
            ];
            row.extend((0..runs).map(|run| {
                Words::plain(
                    figure
                        .repeats
                        .get(run)
                        .map_or_else(|| "–".to_owned(), |value| place.print(*value)),
                )
            }));
            row
        })
        .collect();
    Some(Block::Table(Table {
        caption: "Figures".to_owned(),
        head,
        rows,
        names: 1,
    }))
}

/// The link, the protocol, the work, the sanity request and the responses, as declared and as
/// measured.
fn facts_table(cell: &Cell) -> Option<Block> {
    let mut rows: Vec<(&str, Words)> = Vec::new();
    if let Some(link) = &cell.link {
        let mut parts = vec![format!("{} by {}", link.name, link.by)];
        let quantities = [
            (
                "round trip",
                "ms",
                link.measured_round_trip_ms,
                link.declared_round_trip_ms,
            ),
            ("connecting", "ms", link.measured_connect_ms, None),
            (
                "rate",
                "Mbit/s",
                link.measured_megabits_per_second,
                link.declared_megabits_per_second,
            ),
        ];
        for (name, unit, measured, declared) in quantities {
            let declared =
                declared.map(|value| format!("declared {} {unit}", number::short(value)));
            match (measured, declared) {
                (Some(value), Some(declared)) => {
                    parts.push(format!(
                        "{name} {} {unit} ({declared})",
                        number::short(value)
                    ));
                }
                (Some(value), None) => {
                    parts.push(format!("{name} {} {unit}", number::short(value)))
                }
                (None, Some(declared)) => parts.push(format!("{name} not measured ({declared})")),
                (None, None) => {}
            }
        }
        rows.push(("link, as measured", Words::plain(parts.join("; "))));
        if let Some(late) = link.late_p99_ms {
            rows.push((
                "lateness of the relay, p99",
                Words::plain(format!("{} ms", number::short(late))),
            ));
        }
    }
    if cell.protocol_declared.is_some() || !cell.protocols.is_empty() {
        let negotiated: Vec<String> = cell
            .protocols
            .iter()
            .map(|(name, count)| format!("{name}: {} responses", number::count(*count)))
            .collect();
        rows.push((
            "protocol",
            Words::plain(format!(
                "declared {}; negotiated {}",
                cell.protocol_declared.as_deref().unwrap_or("none"),
                if negotiated.is_empty() {
                    "none".to_owned()
                } else {
                    negotiated.join(", ")
                }
            )),
        ));
    }
    let work: Vec<String> = cell
        .repeats
        .iter()
        .filter_map(|repeat| repeat.work)
        .map(|(declared, done)| {
            format!(
                "{} of {} calls",
                number::count(done),
                number::count(declared)
            )
        })
        .collect();
    if !work.is_empty() {
        rows.push(("completed and declared work", Words::plain(work.join(", "))));
    }
    if let Some(sanity) = &cell.sanity {
        rows.push(("sanity request", Words::new().code(sanity.clone())));
    }
    rows.push(("command", Words::new().code(cell.command.clone())));
    rows.retain(|(_, words)| !words.to_text().is_empty());
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: "Declared and found".to_owned(),
            head: vec![Head::words("what"), Head::words("value")],
            rows: rows
                .into_iter()
                .map(|(name, words)| vec![Words::plain(name), words])
                .collect(),
            names: 1,
        })
    })
}

fn limit_plot(cell: &Cell, id: &str) -> Option<Block> {
    let search = cell.limit.as_ref()?;
    if search.trials.is_empty() {
        return None;
    }
    let plot = LimitPlot {
        title: format!(
            "The search for the highest rate that meets {}",
            search.objective
        ),
        figure: search.figure.clone(),
        unit: search.unit.clone(),
        limit: search.limit,
        trials: search
            .trials
            .iter()
            .map(|trial| Trial {
                rate: trial.rate,
                value: trial.value,
                kept: trial.kept,
                soak: trial.soak,
            })
            .collect(),
        kept: search.kept,
        broken: search.broken,
    };
    Some(Block::plot(Plot {
        name: format!("{id}-limit"),
        caption: format!(
            "Trials with the objective {}; the limit is in the shaded band.",
            search.objective
        ),
        narrow: plot.draw(PlotWidth::Narrow),
        wide: None,
        series: None,
    }))
}

fn run_table(cell: &Cell) -> Option<Block> {
    if cell.repeats.is_empty() {
        return None;
    }
    // Omit the values that the table of figures already shows with their units.
    let figure = |name: &str| cell.figures.iter().any(|figure| figure.name == name);
    let mut extras: Vec<&str> = Vec::new();
    for name in cell.repeats.iter().flat_map(|repeat| repeat.extra.keys()) {
        if !figure(name) && !extras.contains(&name.as_str()) {
            extras.push(name);
        }
    }
    let mut head = vec![
        Head::words("run"),
        Head::figures("position in the lab"),
        Head::words("started"),
        Head::figures("measured for"),
        Head::words("warm-up removed"),
        Head::figures("requests"),
        Head::figures("failed"),
        Head::figures("generator's CPU"),
        Head::words("responses"),
    ];
    head.extend(
        extras
            .iter()
            .map(|name| Head::figures(name.replace('_', " "))),
    );
    let rows = cell
        .repeats
        .iter()
        .map(|repeat| run_row(repeat, &extras))
        .collect();
    Some(Block::Table(Table {
        caption: "Runs".to_owned(),
        head,
        rows,
        names: 1,
    }))
}

fn run_row(repeat: &Repeat, extras: &[&str]) -> Vec<Words> {
    let failed = if repeat.failed == 0 || repeat.requests == 0 {
        number::count(repeat.failed)
    } else {
        let part = repeat.failed as f64 / repeat.requests as f64;
        format!(
            "{} ({} %)",
            number::count(repeat.failed),
            format_share(part)
        )
    };
    let outcomes: Vec<String> = repeat
        .outcomes
        .iter()
        .map(|(name, count)| format!("{name}: {}", number::count(*count)))
        .collect();
    let warm_up = if repeat.warm_up_seconds > 0.0 {
        format!(
            "{} s, {}",
            number::tick(repeat.warm_up_seconds),
            repeat.warm_up_rule
        )
    } else {
        format!("none, {}", repeat.warm_up_rule)
    };
    let mut row = vec![
        Words::plain(repeat.number.to_string()),
        Words::plain(repeat.turn.to_string()),
        Words::plain(repeat.started.clone()),
        Words::plain(format!("{} s", number::short(repeat.duration_seconds))),
        Words::plain(warm_up.trim_end_matches(", ").to_owned()),
        Words::plain(number::count(repeat.requests)),
        Words::plain(failed),
        Words::plain(format!("{} s", number::short(repeat.generator.cpu_seconds))),
        Words::plain(outcomes.join(", ")),
    ];
    row.extend(extras.iter().map(|name| {
        Words::plain(
            repeat
                .extra
                .get(*name)
                .map_or_else(|| "–".to_owned(), |value| number::short(*value)),
        )
    }));
    row
}

/// The highest resource usage of each process in all runs.
fn used_table(cell: &Cell) -> Option<Block> {
    let all: Vec<(u32, &Used)> = cell
        .repeats
        .iter()
        .flat_map(|repeat| repeat.used.iter().map(move |used| (repeat.number, used)))
        .collect();
    if all.is_empty() {
        return None;
    }
    let rows = all
        .iter()
        .map(|(run, used)| {
            let (voluntary, forced) = used.context_switches;
            vec![
                Words::plain(used.name.clone()),
                Words::plain(run.to_string()),
                Words::plain(format!("{} s", number::short(used.cpu_seconds))),
                Words::plain(format_bytes(used.peak_rss_bytes)),
                Words::plain(used.threads.to_string()),
                Words::plain(used.open_files.to_string()),
                Words::plain(format!(
                    "{} and {}",
                    number::count(voluntary),
                    number::count(forced)
                )),
                Words::plain(used.network_bytes.map_or_else(
                    || "–".to_owned(),
                    |(received, sent)| {
                        format!("{} and {}", format_bytes(received), format_bytes(sent))
                    },
                )),
            ]
        })
        .collect();
    Some(Block::Folded {
        summary: "Resource usage of each process".to_owned(),
        blocks: vec![Block::Table(Table {
            caption: "Processes, by run".to_owned(),
            head: vec![
                Head::words("process"),
                Head::figures("run"),
                Head::figures("CPU time"),
                Head::figures("most memory"),
                Head::figures("threads"),
                Head::figures("open files"),
                Head::figures("context switches, voluntary and not"),
                Head::figures("network, in and out"),
            ],
            rows,
            names: 1,
        })],
    })
}

/// The output of the tool for each run. For iperf3, this is its interval table.
fn raw_outputs(cell: &Cell) -> Vec<Block> {
    cell.repeats
        .iter()
        .filter(|repeat| !repeat.raw.trim().is_empty())
        .map(|repeat| {
            let label = match &repeat.record {
                Some(record) => format!("Output of run {}; its record is {record}", repeat.number),
                None => format!("Output of run {}", repeat.number),
            };
            match crate::iperf_intervals::interval_table(&repeat.raw) {
                Some(table) => Block::Folded {
                    summary: format!("{label}; its JSON is in result.json"),
                    blocks: vec![table],
                },
                None => Block::Raw {
                    label,
                    text: repeat.raw.clone(),
                    folded: true,
                },
            }
        })
        .collect()
}
