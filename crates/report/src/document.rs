//! A report before it is written in some format: sections of prose, tables, plots and raw text.
//! Both formats are generated from this, so they have the same content.

use plimsoll_plots::{Picture, number};
use serde_json::Value;

/// A whole report.
#[derive(Debug)]
pub struct Document {
    /// The lab's title.
    pub title: String,
    /// The lab's question.
    pub question: String,
    /// The sections that everybody reads, in order, with the conclusion first.
    pub sections: Vec<Section>,
    /// The evidence, in order: the sections that readers open on demand.
    pub evidence: Vec<Section>,
    /// The search field of long evidence: the name of its parts, and an example of a search.
    pub filter: Option<(&'static str, &'static str)>,
    /// The last line.
    pub footer: Words,
}

/// A heading and the text under it.
#[derive(Debug)]
pub struct Section {
    /// The target of links; unique in the document.
    pub id: String,
    /// The heading.
    pub title: Words,
    /// The blocks under it.
    pub blocks: Vec<Block>,
}

/// A part of a section.
#[derive(Debug)]
pub enum Block {
    /// A paragraph.
    Prose(Words),
    /// A list.
    Points(Vec<Words>),
    Table(Table),
    /// Preformatted text: commands, files, a tool's output.
    Raw {
        /// A title for the text.
        label: String,
        text: String,
        /// Whether it is collapsed.
        folded: bool,
    },
    Plot(Box<Plot>),
    /// A collapsible group of blocks.
    Folded {
        /// Its title.
        summary: String,
        blocks: Vec<Block>,
    },
    /// The subject and the place of the measurement: name and value.
    Facts(Vec<(&'static str, String)>),
    /// The list of cells. A page that holds the evidence itself lists it there instead.
    Index(Table),
    /// Evidence that a page leaves out if it would be too large with it.
    Detail(Detail, Vec<Block>),
}

/// Kinds of evidence, in the order in which a page that is too large leaves them out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// All effective values of the lab file.
    EffectiveValues,
    /// The tool's output of all runs but the first.
    LaterOutput,
    /// The resources that each process used.
    Resources,
    HeatMap,
    /// Plots of ratios.
    Ratios,
    /// Percentile curves.
    Curves,
    /// The tool's output of the first run.
    Output,
    /// The figures of each cell.
    Figures,
    /// Plots over time.
    OverTime,
    /// Everything else about a cell.
    Rest,
}

impl Detail {
    /// All kinds, the first to be left out first.
    pub const ALL: [Detail; 10] = [
        Detail::EffectiveValues,
        Detail::LaterOutput,
        Detail::Resources,
        Detail::HeatMap,
        Detail::Ratios,
        Detail::Curves,
        Detail::Output,
        Detail::Figures,
        Detail::OverTime,
        Detail::Rest,
    ];

    /// Its name in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Detail::EffectiveValues => "effective values",
            Detail::LaterOutput => "output of later runs",
            Detail::Resources => "resource usage",
            Detail::HeatMap => "heat maps",
            Detail::Ratios => "plots of ratios",
            Detail::Curves => "percentile curves",
            Detail::Output => "output of the first run",
            Detail::Figures => "all figures of each cell",
            Detail::OverTime => "plots over time",
            Detail::Rest => "runs of each cell",
        }
    }
}

impl Block {
    /// Whether it shows nothing.
    pub fn is_empty(&self) -> bool {
        match self {
            Block::Detail(_, blocks) => blocks.iter().all(Block::is_empty),
            Block::Points(points) => points.is_empty(),
            Block::Facts(facts) => facts.is_empty(),
            _ => false,
        }
    }

    pub fn plot(plot: Plot) -> Block {
        Block::Plot(Box::new(plot))
    }
}

/// A plot in a narrow and possibly a wide version.
#[derive(Debug)]
pub struct Plot {
    /// Its file name without folder and extension; unique in the document.
    pub name: String,
    pub caption: String,
    /// The picture for a narrow column.
    pub narrow: Picture,
    /// The picture for the whole page width, if it shows more.
    pub wide: Option<Picture>,
    /// The data of the interactive version.
    pub series: Option<Value>,
}

#[derive(Debug)]
pub struct Table {
    pub caption: String,
    /// Column headings.
    pub head: Vec<Head>,
    /// Rows; each has as many fields as there are headings.
    pub rows: Vec<Vec<Words>>,
    /// The number of fields at the left of each row that name the row.
    pub names: usize,
}

/// The heading of a column.
#[derive(Debug)]
pub struct Head {
    /// Its words.
    pub text: String,
    /// Whether the column has figures.
    pub figures: bool,
}

impl Head {
    /// A column of text.
    pub fn words(text: impl Into<String>) -> Head {
        Head {
            text: text.into(),
            figures: false,
        }
    }

    /// A column of figures.
    pub fn figures(text: impl Into<String>) -> Head {
        Head {
            text: text.into(),
            figures: true,
        }
    }
}

/// Text of a line, a field or a heading.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words(pub Vec<Word>);

/// A part of such text.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Plain text.
    Text(String),
    /// A name, a command, or a value in machine-readable form.
    Code(String),
    /// Emphasized text.
    Strong(String),
    Figure(Printed),
    /// `valid`, `suspect`, `invalid`, or a state without a verdict.
    Verdict(String),
    /// A link in this document: text, id.
    Link(String, String),
    /// A value without its unit, and half the width of its interval in percent.
    Value(String, Option<String>),
    /// The letter of a footnote.
    Mark(String),
}

/// A figure in printed form, already rounded.
#[derive(Clone, Debug, PartialEq)]
pub struct Printed {
    /// The figure.
    pub value: String,
    pub unit: String,
    /// The ends of its interval.
    pub interval: Option<(String, String)>,
}

impl Printed {
    /// `value` with as many digits as its interval justifies.
    pub fn new(value: f64, interval: Option<(f64, f64)>, unit: &str) -> Printed {
        let place = number::Place::of(value, interval);
        Printed {
            value: place.print(value),
            unit: unit.to_owned(),
            interval: interval.map(|(low, high)| (place.print(low), place.print(high))),
        }
    }

    /// As text: `3.91 ms (3.85 to 3.97)`.
    pub fn text(&self) -> String {
        let unit = if self.unit.is_empty() {
            String::new()
        } else {
            format!(" {}", self.unit)
        };
        let interval = self
            .interval
            .as_ref()
            .map_or_else(String::new, |(low, high)| format!(" ({low} to {high})"));
        format!("{}{unit}{interval}", self.value)
    }
}

impl Words {
    /// Empty text.
    pub fn new() -> Words {
        Words::default()
    }

    /// Plain text only.
    pub fn plain(text: impl Into<String>) -> Words {
        Words::new().text(text)
    }

    /// Adds plain text.
    pub fn text(mut self, text: impl Into<String>) -> Words {
        let text = text.into();
        if let Some(Word::Text(last)) = self.0.last_mut() {
            last.push_str(&text);
        } else if !text.is_empty() {
            self.0.push(Word::Text(text));
        }
        self
    }

    /// Adds a name.
    pub fn code(mut self, text: impl Into<String>) -> Words {
        self.0.push(Word::Code(text.into()));
        self
    }

    /// Adds emphasized text.
    pub fn strong(mut self, text: impl Into<String>) -> Words {
        self.0.push(Word::Strong(text.into()));
        self
    }

    /// Adds a figure.
    pub fn figure(mut self, value: f64, interval: Option<(f64, f64)>, unit: &str) -> Words {
        self.0
            .push(Word::Figure(Printed::new(value, interval, unit)));
        self
    }

    /// Adds a verdict.
    pub fn verdict(mut self, verdict: impl Into<String>) -> Words {
        self.0.push(Word::Verdict(verdict.into()));
        self
    }

    /// Adds a value without its unit.
    pub fn value(mut self, value: String, spread: Option<String>) -> Words {
        self.0.push(Word::Value(value, spread));
        self
    }

    /// Adds the letter of a footnote.
    pub fn mark(mut self, letter: impl Into<String>) -> Words {
        self.0.push(Word::Mark(letter.into()));
        self
    }

    /// Adds a link inside the document.
    pub fn link(mut self, text: impl Into<String>, to: impl Into<String>) -> Words {
        self.0.push(Word::Link(text.into(), to.into()));
        self
    }

    /// The same text without emphasis.
    pub fn without_emphasis(self) -> Words {
        self.0
            .into_iter()
            .fold(Words::new(), |words, word| match word {
                Word::Strong(text) | Word::Text(text) => words.text(text),
                word => words.append(Words(vec![word])),
            })
    }

    /// Appends other text.
    pub fn append(mut self, other: Words) -> Words {
        for word in other.0 {
            match word {
                Word::Text(text) => self = self.text(text),
                word => self.0.push(word),
            }
        }
        self
    }

    /// The whole text without markup.
    pub fn to_text(&self) -> String {
        self.0
            .iter()
            .map(|word| match word {
                Word::Text(text)
                | Word::Code(text)
                | Word::Strong(text)
                | Word::Verdict(text)
                | Word::Link(text, _) => text.clone(),
                Word::Value(value, spread) => spread
                    .as_ref()
                    .map_or_else(|| value.clone(), |spread| format!("{value} ±{spread} %")),
                Word::Mark(letter) => format!(" ({letter})"),
                Word::Figure(figure) => figure.text(),
            })
            .collect()
    }
}

impl Document {
    /// Visits every block, including nested ones.
    pub fn visit<'a>(&'a self, see: &mut dyn FnMut(&'a Block)) {
        fn inside<'a>(blocks: &'a [Block], see: &mut dyn FnMut(&'a Block)) {
            for block in blocks {
                see(block);
                if let Block::Folded { blocks, .. } | Block::Detail(_, blocks) = block {
                    inside(blocks, see);
                }
            }
        }
        for section in self.sections.iter().chain(&self.evidence) {
            inside(&section.blocks, see);
        }
    }
}

/// The sections that have a content: id, title and blocks of each.
pub fn non_empty_sections<const N: usize>(parts: [(&str, &str, Vec<Block>); N]) -> Vec<Section> {
    parts
        .into_iter()
        .filter(|(_, _, blocks)| !blocks.iter().all(Block::is_empty))
        .map(|(id, title, blocks)| Section {
            id: id.to_owned(),
            title: Words::plain(title),
            blocks,
        })
        .collect()
}
