//! A tool-independent model of a page's figures: records with named fields, read from tables,
//! lists, `name: value` lines and tool output. Rules compare the fields of a record with each
//! other, the records of a grid with each other, and sentences with both.

mod cell;
mod drawn;
mod foreign;
mod grid;
mod name;

pub use cell::{Figure, Kind, parse_unit, read};
pub use foreign::english;
pub use grid::{Grid, Grids, is_rank, parse_field, parse_rank};
pub use name::{Meaning, Name, tokenize};

/// A named figure of a record.
#[derive(Clone, Debug)]
pub struct Field {
    pub name: Name,
    pub figure: Figure,
}

impl Field {
    /// Whether the figure is a value above 0, not a limit.
    pub fn is_exact(&self) -> bool {
        self.figure.value > 0.0 && !self.figure.bound
    }

    /// The figure as printed, with the unit from its name if the figure has none.
    pub fn figure_with_unit(&self) -> String {
        self.figure.with_unit()
    }

    /// Whether a larger value is better, or `None` if the direction has no meaning.
    pub fn more_is_better(&self) -> Option<bool> {
        match self.name.meaning {
            Meaning::Rate | Meaning::PassedShare => Some(true),
            Meaning::Min | Meaning::Mean | Meaning::Max | Meaning::Quantile(_) => {
                match self.figure.kind {
                    Kind::Time => Some(false),
                    Kind::Rate => Some(true),
                    Kind::Plain if self.name.is_latency() => Some(false),
                    _ => None,
                }
            }
            Meaning::Duration | Meaning::FailedShare => Some(false),
            _ => match self.figure.kind {
                Kind::Time => Some(false),
                Kind::Rate => Some(true),
                _ => None,
            },
        }
    }
}

/// A table row, a table column, a list or a tool's output.
#[derive(Clone, Debug)]
pub struct Record {
    pub line: usize,
    /// What the record describes.
    pub label: String,
    /// The words of the label, to compare sentences with.
    pub words: Vec<String>,
    pub fields: Vec<Field>,
}

impl Record {
    pub fn new(line: usize, label: String, fields: Vec<Field>) -> Record {
        Record {
            line,
            words: label_words(&label),
            label,
            fields,
        }
    }

    /// The field with the same name and the same unit.
    pub fn matching_field(&self, field: &Field) -> Option<&Field> {
        self.fields.iter().find(|known| {
            known.name.text == field.name.text && known.figure.kind == field.figure.kind
        })
    }

    /// The only field with this meaning.
    pub fn only_field(&self, meaning: Meaning) -> Option<&Field> {
        let mut fields = self
            .fields
            .iter()
            .filter(|field| field.name.meaning == meaning);
        let field = fields.next()?;
        fields.next().is_none().then_some(field)
    }
}

/// Words that are not part of a name.
const FILLERS: [&str; 22] = [
    "the", "a", "an", "our", "this", "that", "and", "with", "of", "in", "both", "which", "while",
    "but", "so", "also", "however", "version", "overall", "here", "results", "result",
];

/// The words of a label or a phrase without the fillers.
pub fn label_words(text: &str) -> Vec<String> {
    tokenize(text)
        .into_iter()
        .map(|word| word.trim_end_matches(".js").to_owned())
        .filter(|word| !FILLERS.contains(&word.as_str()))
        .collect()
}
