//! Generates the reference of the file format as Markdown.

use std::fmt::Write;

use super::keys::SHAPES;
use super::shape::describe;

/// A section for each table of a lab file. Each section contains a table of the keys.
pub fn markdown() -> String {
    let mut out = String::new();
    for shape in SHAPES {
        // Writing to a string cannot fail.
        let _ = write!(
            out,
            "\n### `{}`\n{}\n\n| key | type | default | description |\n|---|---|---|---|\n",
            shape.name, shape.says
        );
        for key in shape.keys {
            let _ = writeln!(
                out,
                "| `{}` | {} | {} | {} |",
                key.name,
                describe(&key.kind),
                key.default,
                key.says
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEGIN: &str =
        "<!-- The tables below are generated from the program's own description. -->\n";

    #[test]
    fn the_reference_in_docs_is_up_to_date() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/lab.md");
        let text = std::fs::read_to_string(path).unwrap();
        let (head, tail) = text
            .split_once(BEGIN)
            .expect("the page contains the marker");
        let now = format!("{head}{BEGIN}{}", markdown());
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
            std::fs::write(path, &now).unwrap();
        } else {
            assert!(
                tail == markdown(),
                "{path} is out of date; UPDATE_SNAPSHOTS=1 regenerates it"
            );
        }
    }
}
