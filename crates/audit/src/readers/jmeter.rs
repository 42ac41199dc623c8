//! Reads the summary lines that JMeter prints without its GUI: `summary +` for an interval,
//! `summary =` for the run so far. The name before the sign is the name of the element in the test
//! plan.

use super::{BOUNDARY, Line};
use crate::block::{Block, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut reader = Reader::default();
    for line in lines {
        reader.read_line(line.text, line.number);
    }
    reader.finish();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    /// The totals of the run so far.
    total: Option<Summary>,
    /// The sum of its intervals.
    sum: Option<Summary>,
    first_line: usize,
    last_line: usize,
}

/// The figures of one line.
struct Summary {
    so_far: bool,
    count: f64,
    time: Quantity,
    rate: Option<Quantity>,
    mean: Quantity,
    min: Quantity,
    max: Quantity,
    failed: f64,
    share: Option<Quantity>,
    line: usize,
}

impl Reader {
    fn read_line(&mut self, text: &str, number: usize) {
        let Some(summary) = parse_summary(text, number) else {
            // Other text ends a run: JMeter prints nothing else between the summary lines.
            if text == BOUNDARY || !text.trim().is_empty() {
                self.finish();
            }
            return;
        };
        if summary.so_far
            && self.total.as_ref().is_some_and(|total| {
                summary.count < total.count || summary.time.value < total.time.value
            })
        {
            self.finish();
        }
        if self.total.is_none() && self.sum.is_none() {
            self.first_line = number;
        }
        self.last_line = number;
        if summary.so_far {
            self.total = Some(summary);
        } else {
            self.sum = Some(match self.sum.take() {
                Some(sum) => sum.merged_with(summary),
                None => summary,
            });
        }
    }

    /// Ends a run. Its result is the last total. A run that ended within its first interval has only
    /// the line of that interval.
    fn finish(&mut self) {
        let sum = self.sum.take();
        if let Some(summary) = self.total.take().or(sum) {
            let mut block = summary.into_block();
            block.first_line = self.first_line;
            block.last_line = self.last_line;
            self.blocks.push(block);
        }
    }
}

impl Summary {
    /// Merges two intervals of one run.
    fn merged_with(self, next: Summary) -> Summary {
        let count = self.count + next.count;
        let seconds = self.time.value + next.time.value;
        let mean = (self.mean.value * self.count + next.mean.value * next.count) / count.max(1.0);
        Summary {
            so_far: false,
            count,
            time: Quantity {
                value: seconds,
                step: self.time.step + next.time.step,
                text: format!("{seconds} s"),
                ..self.time
            },
            rate: None,
            mean: Quantity {
                value: mean,
                text: format!("{:.0} ms", mean * 1e3),
                ..self.mean
            },
            min: smaller_of(self.min, next.min),
            max: larger_of(self.max, next.max),
            failed: self.failed + next.failed,
            share: None,
            line: next.line,
        }
    }

    fn into_block(self) -> Block {
        let mut block = Block::new(Tool::Jmeter, "JMeter summary", self.line);
        block.requests = Some(Quantity::exact(self.count, Unit::Count, self.line));
        block.elapsed = Some(self.time);
        block.rate = self.rate;
        let mut trend = Trend::new(Role::Request, "sample time", self.line);
        trend.mean = Some(self.mean);
        trend.min = Some(self.min);
        trend.max = Some(self.max);
        block.trends.push(trend);
        block.failures = Some(Tally {
            passed: (self.count - self.failed).max(0.0),
            failed: self.failed,
            share: self.share,
            line: self.line,
            inverted: false,
        });
        block
    }
}

fn smaller_of(one: Quantity, other: Quantity) -> Quantity {
    if one.value <= other.value { one } else { other }
}

fn larger_of(one: Quantity, other: Quantity) -> Quantity {
    if one.value >= other.value { one } else { other }
}

/// `summary =  75281 in 00:00:43 = 1741.9/s Avg:    74 Min:     2 Max:  1223 Err:     0 (0.00%)`.
/// Older versions print the time as `43s`.
fn parse_summary(text: &str, line: usize) -> Option<Summary> {
    if !text.contains(" Avg:") || !text.contains("/s") {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().take(48).collect();
    let at = words.iter().position(|word| *word == "in")?;
    let sign = *words.get(at.checked_sub(2)?)?;
    if !matches!(sign, "=" | "+") || words.get(at + 2) != Some(&"=") {
        return None;
    }
    let after = |label: &str| {
        let at = words.iter().position(|word| *word == label)?;
        words.get(at + 1).copied()
    };
    let milliseconds = |label: &str| {
        let figure = after(label)?;
        parse_duration(&format!("{figure} ms"), line)
    };
    let share = words
        .iter()
        .position(|word| *word == "Err:")
        .and_then(|at| words.get(at + 2))
        .and_then(|share| parse_unitless(share.trim_matches(['(', ')']), Unit::Share, line));
    Some(Summary {
        so_far: sign == "=",
        count: parse_unitless(words.get(at - 1)?, Unit::Count, line)?.value,
        time: parse_duration(words.get(at + 1)?, line)?,
        rate: parse_unitless(words.get(at + 3)?, Unit::Rate, line),
        mean: milliseconds("Avg:")?,
        min: milliseconds("Min:")?,
        max: milliseconds("Max:")?,
        failed: parse_unitless(after("Err:")?, Unit::Count, line)?.value,
        share,
        line,
    })
}
