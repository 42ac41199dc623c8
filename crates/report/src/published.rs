//! Published figures compared with measured ones, and errors of the published document.

use plimsoll_plots::number;
use plimsoll_results::lab::LabResult;

use crate::document::{Block, Head, Table, Words};
use crate::naming::{cell_id, describe_cell, describe_state, figures};

/// The table of published figures. Empty if there are none.
pub fn blocks(result: &LabResult) -> Vec<Block> {
    let mut rows = Vec::new();
    for cell in &result.cells {
        for published in &cell.published {
            let figure = figures(cell)
                .iter()
                .find(|figure| figure.name == published.figure);
            let mut others = result.cells.iter().flat_map(|cell| &cell.figures);
            let named = figure.or_else(|| others.find(|figure| figure.name == published.figure));
            let unit = named.map_or("", |figure| figure.unit.as_str());
            rows.push(vec![
                Words::new().link(describe_cell(result, cell), cell_id(result, cell)),
                Words::plain(
                    named
                        .map_or(&published.figure, |figure| &figure.label)
                        .clone(),
                ),
                Words::plain(format!("{} {unit}", number::tick(published.value)).trim_end()),
                figure.map_or_else(
                    || Words::plain(format!("no figure: {}", describe_state(cell).0)),
                    |figure| Words::new().figure(figure.value, figure.interval, &figure.unit),
                ),
                Words::plain(published.note.clone()),
            ]);
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    vec![
        Block::Prose(Words::new().strong("The machines differ.").text(
            " Published figures come from other processors, networks and versions. Compare \
             patterns, such as which cell is above which, and not single values.",
        )),
        Block::Table(Table {
            caption: "Published and measured figures".to_owned(),
            head: vec![
                Head::words("cell"),
                Head::words("figure"),
                Head::figures("published"),
                Head::figures("measured here"),
                Head::words("note"),
            ],
            rows,
            names: 1,
        }),
    ]
}

/// Each published error, and how this lab avoids it; empty if none is known.
pub fn errors(result: &LabResult) -> Vec<Block> {
    if result.published_errors.is_empty() {
        return Vec::new();
    }
    vec![Block::Table(Table {
        caption: "Errors in the published report, and how this lab avoids them".to_owned(),
        head: vec![
            Head::words("what was wrong"),
            Head::words("how it is avoided"),
        ],
        rows: result
            .published_errors
            .iter()
            .map(|error| {
                vec![
                    Words::plain(error.wrong.clone()),
                    Words::plain(error.avoided.clone()),
                ]
            })
            .collect(),
        names: 1,
    })]
}
