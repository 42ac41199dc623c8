//! The parsed content of one file, as the rules see it.

use crate::MAX_BLOCKS;
use crate::block::{Block, Tool};
use crate::document::{Document, Prose};
use crate::finding::{Finding, Level};
use crate::readers::{self, command, command::Command};

/// A parsed file.
pub struct Report<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub document: Document,
    pub blocks: Vec<Block>,
    /// Every command line of a load-testing tool, whether or not it belongs to a block.
    pub commands: Vec<Command>,
    outputs: Outputs,
}

/// The line ranges of tool output.
struct Outputs {
    /// For each output, in ascending order: its first line, and the last line of all outputs up to
    /// this one.
    spans: Vec<(usize, usize)>,
}

impl Outputs {
    fn from_blocks(blocks: &[Block]) -> Outputs {
        let mut spans: Vec<(usize, usize)> = Vec::new();
        for block in blocks.iter().filter(|block| block.layout != "k6 table") {
            let before = spans.last().map_or(0, |(_, last)| *last);
            spans.push((block.first_line, block.last_line.max(before)));
        }
        Outputs { spans }
    }

    fn contains_line(&self, line: usize) -> bool {
        let at = self.spans.partition_point(|(first, _)| *first <= line);
        at.checked_sub(1)
            .and_then(|at| self.spans.get(at))
            .is_some_and(|(_, last)| line <= *last)
    }
}

impl<'a> Report<'a> {
    pub fn read(file: &'a str, text: &'a str) -> Report<'a> {
        let mut document = Document::read(text);
        let flat = readers::flatten_markup(text, &document);
        let mut blocks = Vec::new();
        let mut commands = Vec::new();
        for section in readers::split_into_sections(&flat, &document) {
            // The caller rejects a file with too many blocks, so stop reading here.
            if blocks.len() > MAX_BLOCKS {
                break;
            }
            commands.extend(command::find(&section.lines));
            blocks.extend(readers::read(&section.lines));
        }
        if blocks.len() <= MAX_BLOCKS {
            let tables = readers::read_tables(&document);
            // A table next to k6's original output repeats that output.
            let own = blocks.iter().any(|block: &Block| block.tool == Tool::K6);
            blocks.extend(tables.into_iter().filter(|_| !own));
        }
        blocks.sort_by_key(|block| block.first_line);
        readers::join_parts(&mut blocks);
        drop_repeated(&mut blocks);
        let region = |line: usize| document.region(line);
        for block in &mut blocks {
            let mut titles = document.titles(block.first_line);
            titles.append(&mut block.titles);
            block.titles = titles;
        }
        command::assign(&mut blocks, &commands, |one, other| {
            region(one) == region(other)
        });
        let outputs = Outputs::from_blocks(&blocks);
        for prose in &mut document.prose {
            prose.truncate_at(|line| outputs.contains_line(line));
        }
        Report {
            file,
            text,
            document,
            blocks,
            commands,
            outputs,
        }
    }

    /// Whether a line belongs to a tool's output.
    pub fn is_output(&self, line: usize) -> bool {
        self.outputs.contains_line(line)
    }

    /// The page's prose, without tool output outside of a code fence. A paragraph may begin one
    /// line above the output, with a prompt or "Before:".
    pub fn prose(&self) -> impl Iterator<Item = &Prose> {
        self.document
            .prose
            .iter()
            .filter(|prose| !self.is_output(prose.line) && !self.is_output(prose.line + 1))
            .filter(|prose| !is_progress(&prose.text))
    }

    /// Whether a command above a line, below the last output, shows that the line is about a run
    /// whose output is missing.
    pub fn is_of_unprinted_run(&self, line: usize) -> bool {
        let above = |first: usize| first < line;
        let output = self.blocks.iter().map(|block| block.first_line);
        let Some(output) = output.filter(|first| above(*first)).max() else {
            return false;
        };
        // The command of the next output is above that output.
        let next = self.blocks.iter().any(|block| block.first_line > line);
        let commands = self.commands.iter().map(|command| command.line);
        !next
            && commands
                .filter(|at| above(*at))
                .any(|at| at > output && !self.is_output(at))
    }

    /// The number of the block to show to users, counted from 1.
    pub fn number(&self, block: &Block) -> Option<usize> {
        self.blocks
            .iter()
            .position(|known| std::ptr::eq(known, block))
            .map(|at| at + 1)
    }

    /// Pairs of blocks of the same tool, in page order. Limited, because a malicious page may have
    /// very many.
    pub fn pairs(&self) -> impl Iterator<Item = (&Block, &Block)> {
        const MAX_PAIRED: usize = 200;
        let blocks = &self.blocks[..self.blocks.len().min(MAX_PAIRED)];
        blocks.iter().enumerate().flat_map(move |(at, one)| {
            blocks[at + 1..]
                .iter()
                .filter(move |other| other.tool == one.tool)
                .map(move |other| (one, other))
        })
    }
}

/// Whether this is the progress line that k6 prints last: `running (10.1s), 00/99 VUs, 14070
/// complete and 0 interrupted iterations`.
fn is_progress(text: &str) -> bool {
    text.starts_with("running (") && text.contains("VUs")
}

/// Removes blocks from tables and lists that repeat rows of a tool's output: they are not separate
/// results.
fn drop_repeated(blocks: &mut Vec<Block>) {
    let mean = |block: &Block| Some(block.latency()?.mean.as_ref()?.text.clone());
    let whole: Vec<(Tool, String)> = blocks
        .iter()
        .filter(|block| block.rate.is_some())
        .filter_map(|block| Some((block.tool, mean(block)?)))
        .collect();
    let counts = |block: &Block| {
        let (requests, rate) = (block.requests.as_ref()?, block.rate.as_ref()?);
        Some((block.tool, requests.value, rate.value))
    };
    let counted: Vec<(Tool, f64, f64)> = blocks
        .iter()
        .filter(|block| mean(block).is_some())
        .filter_map(counts)
        .collect();
    blocks.retain(|block| match mean(block) {
        Some(mean) => {
            block.rate.is_some() || block.requests.is_some() || !whole.contains(&(block.tool, mean))
        }
        None => counts(block).is_none_or(|own| !counted.contains(&own)),
    });
}

/// The location of a finding.
pub struct Place<'a> {
    pub line: usize,
    pub block: Option<&'a Block>,
}

/// Collects findings for a report.
pub struct Findings<'r, 'a> {
    report: &'r Report<'a>,
    pub found: Vec<Finding>,
}

impl<'r, 'a> Findings<'r, 'a> {
    pub fn new(report: &'r Report<'a>) -> Findings<'r, 'a> {
        Findings {
            report,
            found: Vec::new(),
        }
    }

    /// Adds a finding about a block, at one of its lines.
    pub fn block(
        &mut self,
        rule: &'static str,
        level: Level,
        block: &Block,
        line: usize,
        words: [String; 3],
    ) {
        let place = Place {
            line,
            block: Some(block),
        };
        self.add(rule, level, &place, words);
    }

    /// Adds a finding about a line of the page.
    pub fn page(&mut self, rule: &'static str, level: Level, line: usize, words: [String; 3]) {
        let place = Place { line, block: None };
        self.add(rule, level, &place, words);
    }

    /// `words` are the evidence, the arithmetic and the advice.
    fn add(&mut self, rule: &'static str, level: Level, place: &Place, words: [String; 3]) {
        let [evidence, arithmetic, advice] = words;
        self.found.push(Finding {
            rule,
            level,
            file: self.report.file.to_owned(),
            line: place.line,
            block: place.block.and_then(|block| self.report.number(block)),
            // The caller sets this after all rules have run.
            conclusion: "",
            evidence,
            arithmetic,
            advice,
        });
    }
}
