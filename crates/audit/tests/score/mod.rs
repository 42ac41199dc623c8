//! Compares the findings on the corpus with the labels of its pages.
//!
//! The file of a page contains its labels, a line `====`, and the page. A hash of the page's name
//! divides the pages. One third of the first collection and half of the second, ninth, eleventh,
//! twelfth, thirteenth, fourteenth and sixteenth collections only measure: no rule may be derived from them. The
//! second collection was labeled when the rules for the first one were finished. The other collections
//! only measure. Each of them was labeled when the rules for the previous collection were finished.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use plimsoll_audit::{Finding, Level, audit};

/// A certain error that the audit must find.
pub struct Wrong {
    pub rules: Vec<String>,
    /// At least one of these must be in the line, the evidence or the arithmetic of the finding.
    pub anchors: Vec<String>,
    pub reason: String,
}

pub struct Page {
    pub name: String,
    /// A tool and the number of its results that must be read.
    pub reads: Vec<(String, usize)>,
    pub wrong: Vec<Wrong>,
    /// Rules whose findings are correct for this page, although it contains no certain error.
    pub fair: Vec<String>,
    /// Rules whose findings were not labeled beforehand, but were verified by hand after the first
    /// measurement.
    pub judged: Vec<String>,
    /// Rules that must have at least a note.
    pub notes: Vec<String>,
    pub text: String,
}

pub struct Scored {
    pub page: Page,
    pub found: Vec<bool>,
    pub notes_found: Vec<bool>,
    /// Findings above a note that are neither certain errors nor labeled as correct.
    pub false_alarms: Vec<Finding>,
    pub loud: usize,
    pub judged: usize,
    pub unread: Vec<String>,
    pub taken: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Writing,
    Measuring,
    SecondWriting,
    SecondMeasuring,
    Third,
    Fourth,
    Fifth,
    Sixth,
    Seventh,
    Eighth,
    NinthWriting,
    NinthMeasuring,
    Tenth,
    EleventhWriting,
    EleventhMeasuring,
    TwelfthWriting,
    TwelfthMeasuring,
    ThirteenthWriting,
    ThirteenthMeasuring,
    FourteenthWriting,
    FourteenthMeasuring,
    Fifteenth,
    SixteenthWriting,
    SixteenthMeasuring,
}

pub const PARTS: [(&str, Part); 24] = [
    ("writing", Part::Writing),
    ("measuring", Part::Measuring),
    ("second collection, writing", Part::SecondWriting),
    ("second collection, measuring", Part::SecondMeasuring),
    ("third collection", Part::Third),
    ("fourth collection", Part::Fourth),
    ("fifth collection", Part::Fifth),
    ("sixth collection", Part::Sixth),
    ("seventh collection", Part::Seventh),
    ("eighth collection", Part::Eighth),
    ("ninth collection, writing", Part::NinthWriting),
    ("ninth collection, measuring", Part::NinthMeasuring),
    ("tenth collection", Part::Tenth),
    ("eleventh collection, writing", Part::EleventhWriting),
    ("eleventh collection, measuring", Part::EleventhMeasuring),
    ("twelfth collection, writing", Part::TwelfthWriting),
    ("twelfth collection, measuring", Part::TwelfthMeasuring),
    ("thirteenth collection, writing", Part::ThirteenthWriting),
    (
        "thirteenth collection, measuring",
        Part::ThirteenthMeasuring,
    ),
    ("fourteenth collection, writing", Part::FourteenthWriting),
    (
        "fourteenth collection, measuring",
        Part::FourteenthMeasuring,
    ),
    ("fifteenth collection", Part::Fifteenth),
    ("sixteenth collection, writing", Part::SixteenthWriting),
    ("sixteenth collection, measuring", Part::SixteenthMeasuring),
];

impl Part {
    /// Whether rules may be derived from the pages of this part.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Part::Writing
                | Part::SecondWriting
                | Part::NinthWriting
                | Part::EleventhWriting
                | Part::TwelfthWriting
                | Part::ThirteenthWriting
                | Part::FourteenthWriting
                | Part::SixteenthWriting
        )
    }

    /// Whether the hash divides the directory into two halves.
    fn is_half(self) -> bool {
        self.is_second()
            || matches!(
                self,
                Part::NinthWriting
                    | Part::NinthMeasuring
                    | Part::EleventhWriting
                    | Part::EleventhMeasuring
                    | Part::TwelfthWriting
                    | Part::TwelfthMeasuring
                    | Part::ThirteenthWriting
                    | Part::ThirteenthMeasuring
                    | Part::FourteenthWriting
                    | Part::FourteenthMeasuring
                    | Part::SixteenthWriting
                    | Part::SixteenthMeasuring
            )
    }

    fn is_second(self) -> bool {
        matches!(self, Part::SecondWriting | Part::SecondMeasuring)
    }

    fn folder(self) -> PathBuf {
        let name = match self {
            Part::Third => "third",
            Part::Fourth => "fourth",
            Part::Fifth => "fifth",
            Part::Sixth => "sixth",
            Part::Seventh => "seventh",
            Part::Eighth => "eighth",
            Part::NinthWriting | Part::NinthMeasuring => "ninth",
            Part::Tenth => "tenth",
            Part::EleventhWriting | Part::EleventhMeasuring => "eleventh",
            Part::TwelfthWriting | Part::TwelfthMeasuring => "twelfth",
            Part::ThirteenthWriting | Part::ThirteenthMeasuring => "thirteenth",
            Part::FourteenthWriting | Part::FourteenthMeasuring => "fourteenth",
            Part::Fifteenth => "fifteenth",
            Part::SixteenthWriting | Part::SixteenthMeasuring => "sixteenth",
            _ if self.is_second() => "second",
            _ => "pages",
        };
        Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("corpus")
            .join(name)
    }

    /// Whether a page in the directory belongs to this part, by the FNV-1a hash of the page's name.
    fn has(self, name: &str) -> bool {
        let is_first = matches!(self, Part::Writing | Part::Measuring);
        if !is_first && !self.is_half() {
            return true;
        }
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let parts = if self.is_half() { 2 } else { 3 };
        ((hash >> 24) % parts == 0) != self.writes()
    }
}

/// Every page of a part, in name order.
pub fn pages(expected: Part) -> Vec<Page> {
    let mut paths: Vec<PathBuf> = fs::read_dir(expected.folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    let mut pages = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        if expected.has(&name) {
            pages.push(parse(&name, &fs::read_to_string(&path).unwrap()));
        }
    }
    pages
}

fn parse(name: &str, text: &str) -> Page {
    let (labels, body) = text
        .split_once("\n====\n")
        .unwrap_or_else(|| panic!("{name}: no line `====`"));
    let mut page = Page {
        name: name.to_owned(),
        reads: Vec::new(),
        wrong: Vec::new(),
        fair: Vec::new(),
        judged: Vec::new(),
        notes: Vec::new(),
        text: body.to_owned(),
    };
    let words =
        |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let bars = |text: &str| -> Vec<String> {
        text.split('|').map(|part| part.trim().to_owned()).collect()
    };
    for label in labels.lines() {
        let (kind, value) = label
            .split_once(": ")
            .unwrap_or_else(|| panic!("{name}: {label}"));
        match kind {
            "source" | "right" => {}
            "reads" => {
                for tool in value.split(", ") {
                    let (tool, count) = tool.split_once(' ').unwrap();
                    page.reads.push((tool.to_owned(), count.parse().unwrap()));
                }
            }
            "wrong" => {
                let (rules, rest) = value
                    .split_once(" @ ")
                    .unwrap_or_else(|| panic!("{name}: {label}"));
                let (anchors, reason) = rest
                    .split_once(" :: ")
                    .unwrap_or_else(|| panic!("{name}: {label}"));
                page.wrong.push(Wrong {
                    rules: bars(rules),
                    anchors: bars(anchors),
                    reason: reason.to_owned(),
                });
            }
            "fair" => page.fair.extend(words(value)),
            "judged" => {
                let rules = value.split(" :: ").next().unwrap_or(value);
                page.judged.extend(words(rules));
            }
            "note" => page.notes.extend(words(value)),
            _ => panic!("{name}: unknown label `{kind}`"),
        }
    }
    page
}

pub fn score(page: Page) -> Scored {
    let start = Instant::now();
    let audited = audit(&page.name, &page.text);
    let taken = start.elapsed();
    let (findings, blocks) = match &audited {
        Ok(audit) => (audit.findings.as_slice(), audit.blocks.as_slice()),
        Err(_) => (&[][..], &[][..]),
    };
    let mut unread = Vec::new();
    for (tool, expected) in &page.reads {
        let read = blocks
            .iter()
            .filter(|block| block.tool.name() == tool)
            .count();
        if read != *expected {
            unread.push(format!("{tool}: {read} of {expected}"));
        }
    }
    let read: usize = page.reads.iter().map(|(_, expected)| expected).sum();
    if unread.is_empty() && blocks.len() != read {
        unread.push(format!("{} results of other tools", blocks.len() - read));
    }
    let lines: Vec<&str> = page.text.lines().collect();
    let matches = |wrong: &Wrong, finding: &Finding| {
        let line = lines
            .get(finding.line.wrapping_sub(1))
            .copied()
            .unwrap_or("");
        let at = |anchor: &String| {
            [line, &finding.evidence, &finding.arithmetic]
                .iter()
                .any(|text| text.contains(anchor.as_str()))
        };
        wrong.rules.iter().any(|rule| rule == finding.rule) && wrong.anchors.iter().any(at)
    };
    let loud: Vec<&Finding> = findings
        .iter()
        .filter(|finding| finding.level > Level::Note)
        .collect();
    let found = page
        .wrong
        .iter()
        .map(|wrong| loud.iter().any(|finding| matches(wrong, finding)))
        .collect();
    let notes_found = page
        .notes
        .iter()
        .map(|rule| findings.iter().any(|finding| finding.rule == rule))
        .collect();
    let is_judged = |finding: &Finding| page.judged.iter().any(|rule| rule == finding.rule);
    let judged = loud.iter().filter(|finding| is_judged(finding)).count();
    let false_alarms = loud
        .iter()
        .filter(|finding| {
            let certain = page.wrong.iter().any(|wrong| matches(wrong, finding));
            let fair = page.fair.iter().any(|rule| rule == finding.rule);
            !(certain || fair || is_judged(finding))
        })
        .map(|finding| (*finding).clone())
        .collect();
    Scored {
        found,
        notes_found,
        false_alarms,
        loud: loud.len(),
        judged,
        unread,
        taken,
        page,
    }
}

/// The totals over a part.
#[derive(Default)]
pub struct Sum {
    pub pages: usize,
    pub blocks: usize,
    pub unread: usize,
    pub wrong: usize,
    pub found: usize,
    pub notes: usize,
    pub notes_found: usize,
    pub loud: usize,
    pub judged: usize,
    pub false_alarms: usize,
    pub false_errors: usize,
    pub slowest: Duration,
}

pub fn sum(scored: &[Scored]) -> Sum {
    let mut sum = Sum::default();
    for page in scored {
        sum.pages += 1;
        sum.blocks += page
            .page
            .reads
            .iter()
            .map(|(_, count)| count)
            .sum::<usize>();
        sum.unread += page.unread.len();
        sum.wrong += page.found.len();
        sum.found += page.found.iter().filter(|found| **found).count();
        sum.notes += page.notes_found.len();
        sum.notes_found += page.notes_found.iter().filter(|found| **found).count();
        sum.loud += page.loud;
        sum.judged += page.judged;
        sum.false_alarms += page.false_alarms.len();
        sum.false_errors += page
            .false_alarms
            .iter()
            .filter(|finding| finding.level == Level::Error)
            .count();
        sum.slowest = sum.slowest.max(page.taken);
    }
    sum
}
