//! What was read from one file, for the rules to judge.

use crate::MOST_BLOCKS;
use crate::block::Block;
use crate::document::Document;
use crate::finding::{Finding, Level};
use crate::readers;

/// A file, read.
pub struct Report<'a> {
    pub file: &'a str,
    pub text: &'a str,
    pub document: Document,
    pub blocks: Vec<Block>,
}

impl<'a> Report<'a> {
    pub fn read(file: &'a str, text: &'a str) -> Report<'a> {
        let document = Document::read(text);
        let mut blocks = Vec::new();
        for code in &document.codes {
            // Too many are refused by the caller; there is no need to read them all.
            if blocks.len() > MOST_BLOCKS {
                break;
            }
            let lines = code.lines(text);
            for mut block in readers::read(&lines) {
                block.titles.clone_from(&code.titles);
                blocks.push(block);
            }
        }
        blocks.sort_by_key(|block| block.first_line);
        Report {
            file,
            text,
            document,
            blocks,
        }
    }

    /// The block's number for people, counted from 1.
    pub fn number(&self, block: &Block) -> Option<usize> {
        self.blocks
            .iter()
            .position(|known| std::ptr::eq(known, block))
            .map(|at| at + 1)
    }

    /// Pairs of blocks of one tool, each pair once, in the order of the page. Bounded,
    /// since a hostile page has many.
    pub fn pairs(&self) -> impl Iterator<Item = (&Block, &Block)> {
        const MOST: usize = 200;
        let blocks = &self.blocks[..self.blocks.len().min(MOST)];
        blocks.iter().enumerate().flat_map(move |(at, one)| {
            blocks[at + 1..]
                .iter()
                .filter(move |other| other.tool == one.tool)
                .map(move |other| (one, other))
        })
    }
}

/// Where a claim is made.
pub struct Place<'a> {
    pub line: usize,
    pub block: Option<&'a Block>,
}

/// Gathers findings on a report.
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

    /// Adds a claim about a block, at a line in it.
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

    /// Adds a claim about a line of the page.
    pub fn page(&mut self, rule: &'static str, level: Level, line: usize, words: [String; 3]) {
        let place = Place { line, block: None };
        self.add(rule, level, &place, words);
    }

    /// `words` are evidence, arithmetic and advice.
    fn add(&mut self, rule: &'static str, level: Level, place: &Place, words: [String; 3]) {
        let [evidence, arithmetic, advice] = words;
        self.found.push(Finding {
            rule,
            level,
            file: self.report.file.to_owned(),
            line: place.line,
            block: place.block.and_then(|block| self.report.number(block)),
            evidence,
            arithmetic,
            advice,
        });
    }
}
