//! The methods: machine, processes, links, commands and lab file.

use plimsoll_plots::number;
use plimsoll_results::lab::{Host, LabResult, LinkFigures, Placed};

use crate::comparisons;
use crate::document::{Block, Detail, Head, Table, Words};
use crate::naming::describe_cell;

/// The machine and its software.
pub fn environment_blocks(result: &LabResult) -> Vec<Block> {
    let machine = &result.environment;
    let mut rows: Vec<(String, String)> = vec![
        ("processor".into(), machine.cpu.clone()),
        ("processors used".into(), machine.cpus.to_string()),
        ("memory".into(), format_bytes(machine.memory_bytes)),
        ("system".into(), machine.os.clone()),
        ("kernel".into(), machine.kernel.clone()),
    ];
    rows.extend(machine.settings.iter().cloned());
    rows.push(("plimsoll".into(), result.plimsoll.clone()));
    let others = result
        .versions
        .iter()
        .filter(|(name, _)| name != "plimsoll");
    rows.extend(others.cloned());
    rows.push(("started".into(), result.started.clone()));
    rows.push((
        "ended".into(),
        result
            .ended
            .clone()
            .unwrap_or_else(|| "not yet: cells are missing".to_owned()),
    ));
    rows.push(("fingerprint".into(), machine.fingerprint.clone()));
    let rows = rows
        .into_iter()
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| vec![Words::plain(name), Words::plain(value)])
        .collect();
    let mut blocks = vec![Block::Table(Table {
        caption: "Machine and software".to_owned(),
        head: vec![Head::words("what"), Head::words("value")],
        rows,
        names: 1,
    })];
    blocks.extend(result.hosts.iter().map(host_block));
    if let Some(methods) = comparisons::methods(result) {
        blocks.push(Block::Prose(Words::plain(format!(
            "Comparisons were made by {methods}."
        ))));
    }
    blocks
}

/// Another host.
fn host_block(host: &Host) -> Block {
    let machine = &host.environment;
    let mut rows: Vec<(String, String)> = vec![
        ("processes of the lab".into(), host.processes.join(", ")),
        ("processor".into(), machine.cpu.clone()),
        ("processors".into(), machine.cpus.to_string()),
        ("memory".into(), format_bytes(machine.memory_bytes)),
        ("system".into(), machine.os.clone()),
        ("kernel".into(), machine.kernel.clone()),
    ];
    rows.extend(host.busy_processors.map(|(min, max)| {
        let (min, max) = (number::short(min), number::short(max));
        let text = match min == max {
            true => min,
            false => format!("{min} to {max}"),
        };
        ("processors busy during the load".into(), text)
    }));
    rows.extend(machine.settings.iter().cloned());
    rows.push(("fingerprint".into(), machine.fingerprint.clone()));
    Block::Table(Table {
        caption: format!("Host {}, over SSH", host.name),
        head: vec![Head::words("what"), Head::words("value")],
        rows: rows
            .into_iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| vec![Words::plain(name), Words::plain(value)])
            .collect(),
        names: 1,
    })
}

/// The processes and the links between them.
pub fn topology_blocks(result: &LabResult) -> Vec<Block> {
    let mut blocks = Vec::new();
    if !result.topology.is_empty() {
        let rows = result
            .topology
            .iter()
            .map(|placed| {
                let cpus: Vec<String> = placed.cpus.iter().map(u32::to_string).collect();
                vec![
                    Words::plain(placed.name.clone()),
                    Words::plain(if cpus.is_empty() {
                        "any".to_owned()
                    } else {
                        cpus.join(", ")
                    }),
                    Words::plain(placed.version.clone().unwrap_or_default()),
                    Words::plain(format_settings(placed)),
                    Words::new().code(placed.command.clone()),
                ]
            })
            .collect();
        blocks.push(Block::Table(Table {
            caption:
                "Processes, the processors they are pinned to, their settings and their commands"
                    .to_owned(),
            head: vec![
                Head::words("process"),
                Head::words("CPUs"),
                Head::words("version"),
                Head::words("settings"),
                Head::words("command"),
            ],
            rows,
            names: 1,
        }));
    }
    blocks.extend(link_table(result));
    blocks
}

/// `fsync = on, full_page_writes = on`.
fn format_settings(placed: &Placed) -> String {
    let all = placed.settings.iter();
    let texts: Vec<String> = all
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    texts.join(", ")
}

/// The links as declared and as measured: the range over the cells of each place.
fn link_table(result: &LabResult) -> Option<Block> {
    let mut places: Vec<(&str, Vec<&LinkFigures>)> = Vec::new();
    for link in result.cells.iter().filter_map(|cell| cell.link.as_ref()) {
        match places.iter_mut().find(|place| place.0 == link.name) {
            Some(place) => place.1.push(link),
            None => places.push((&link.name, vec![link])),
        }
    }
    if places.is_empty() {
        return None;
    }
    let rows = places
        .iter()
        .map(|(name, links)| {
            let reach = |read: fn(&LinkFigures) -> Option<f64>, unit: &str| {
                let mut values: Vec<f64> = links.iter().filter_map(|link| read(link)).collect();
                values.sort_by(f64::total_cmp);
                Words::plain(match (values.first(), values.last()) {
                    (Some(low), Some(high)) if number::short(*low) != number::short(*high) => {
                        format!("{} to {} {unit}", number::short(*low), number::short(*high))
                    }
                    (Some(low), _) => format!("{} {unit}", number::short(*low)),
                    _ => "–".to_owned(),
                })
            };
            vec![
                Words::plain(*name),
                Words::plain(links.first().map_or("", |link| link.by.as_str())),
                reach(|link| link.declared_round_trip_ms, "ms"),
                reach(|link| link.measured_round_trip_ms, "ms"),
                reach(|link| link.measured_connect_ms, "ms"),
                reach(|link| link.declared_megabits_per_second, "Mbit/s"),
                reach(|link| link.measured_megabits_per_second, "Mbit/s"),
            ]
        })
        .collect();
    Some(Block::Table(Table {
        caption: "Links as declared and as measured before the load, over all cells of a place"
            .to_owned(),
        head: vec![
            Head::words("place"),
            Head::words("made by"),
            Head::figures("round trip, declared"),
            Head::figures("round trip, measured"),
            Head::figures("connecting, measured"),
            Head::figures("rate, declared"),
            Head::figures("rate, measured"),
        ],
        rows,
        names: 1,
    }))
}

/// The exact commands, the lab file and the effective values.
pub fn repeat_blocks(result: &LabResult) -> Vec<Block> {
    let mut commands = String::new();
    let mut last = "";
    for cell in result.cells.iter().filter(|cell| !cell.command.is_empty()) {
        // Cells that differ only in their system share a command.
        if cell.command == last {
            commands.push_str(&format!("# {}: the same\n", describe_cell(result, cell)));
        } else {
            commands.push_str(&format!(
                "# {}\n{}\n",
                describe_cell(result, cell),
                cell.command
            ));
        }
        last = &cell.command;
    }
    let mut blocks = Vec::new();
    if !commands.is_empty() {
        blocks.push(Block::Raw {
            label: "The load's command for each cell".to_owned(),
            text: commands,
            folded: true,
        });
    }
    blocks.push(Block::Raw {
        label: if result.file_name.is_empty() {
            "The lab file".to_owned()
        } else {
            format!("The lab file, {}", result.file_name)
        },
        text: result.file.clone(),
        folded: true,
    });
    blocks.push(Block::Detail(
        Detail::EffectiveValues,
        vec![Block::Raw {
            label: "Every effective value".to_owned(),
            text: serde_json::to_string_pretty(&result.effective).unwrap_or_default(),
            folded: true,
        }],
    ));
    blocks
}

/// A size in the units of machine specifications: 16 GiB.
pub fn format_bytes(count: u64) -> String {
    const STEPS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    for (step, unit) in STEPS {
        if count >= step {
            return format!("{} {unit}", number::short(count as f64 / step as f64));
        }
    }
    format!("{count} B")
}
