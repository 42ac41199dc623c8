//! Reads the tables of a Locust run without the web interface: a row for each request, their
//! totals, and a second table of percentiles. Times are in whole milliseconds.

use super::{BOUNDARY, Line};
use crate::block::{Block, Part, Role, Tally, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut reader = Reader::default();
    for line in lines {
        // Bars separate the columns.
        let text = line.text.replace('|', " ");
        let words: Vec<&str> = text.split_whitespace().take(64).collect();
        if line.text == BOUNDARY {
            reader.finish_table();
            reader.percents.clear();
        } else if words.contains(&"reqs") && words.contains(&"fails") {
            reader.finish_table();
            reader.start_table(&words, line.number);
        } else if words.contains(&"reqs") && words.contains(&"50%") {
            reader.finish_table();
            reader.percents = parse_percentile_columns(&words);
        } else if !reader.percents.is_empty() {
            reader.read_percentiles(&words, line.number);
        } else if reader.table.is_some() {
            reader.read_row(&words, line.number);
        }
    }
    reader.finish_table();
    reader.blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    table: Option<Table>,
    /// The columns of the percentile table.
    percents: Vec<String>,
}

/// The first table, while its rows are being read.
struct Table {
    line: usize,
    /// The columns after the number of failures.
    columns: Vec<String>,
    rows: Vec<Row>,
    sum: Option<Row>,
}

struct Row {
    requests: f64,
    failed: f64,
    share: Option<Quantity>,
    figures: Vec<(String, String)>,
    line: usize,
}

impl Reader {
    fn start_table(&mut self, words: &[&str], line: usize) {
        self.percents.clear();
        let after = words.iter().position(|word| *word == "fails");
        let columns = words[after.map_or(0, |at| at + 1)..]
            .iter()
            .map(|word| (*word).to_owned())
            .collect();
        self.table = Some(Table {
            line,
            columns,
            rows: Vec::new(),
            sum: None,
        });
    }

    fn read_row(&mut self, words: &[&str], line: usize) {
        let Some(table) = &mut self.table else {
            return;
        };
        // The limit is far above the number of requests in any table.
        let Some(row) =
            parse_row(words, &table.columns, line).filter(|_| table.rows.len() < 10_000)
        else {
            return;
        };
        if words
            .iter()
            .any(|word| matches!(*word, "Aggregated" | "Total"))
        {
            table.sum = Some(row);
            self.finish_table();
        } else {
            table.rows.push(row);
        }
    }

    /// A table without requests is the one that Locust prints at the start.
    fn finish_table(&mut self) {
        if let Some(block) = self.table.take().and_then(Table::into_block) {
            self.blocks.push(block);
        }
    }

    /// Reads the percentiles of the totals row, or of the only request.
    fn read_percentiles(&mut self, words: &[&str], line: usize) {
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        let Some(start) = words
            .len()
            .checked_sub(self.percents.len())
            .filter(|start| *start > 0)
        else {
            return;
        };
        let requests = block.requests.as_ref().map_or(0.0, |count| count.value);
        let mut figures = Vec::new();
        for (name, word) in self.percents.iter().zip(&words[start..]) {
            let Some(figure) = parse_unitless(word, Unit::Count, line) else {
                return;
            };
            if name == "reqs" {
                if figure.value != requests {
                    return;
                }
            } else if let Some(percent) = name
                .strip_suffix('%')
                .and_then(|percent| percent.parse::<f64>().ok())
                .filter(|percent| *percent > 0.0 && *percent < 100.0)
                && let Some(time) = parse_rounded_time(word, line)
            {
                figures.push((percent / 100.0, time));
            }
        }
        let Some(trend) = block.trends.first_mut() else {
            return;
        };
        for (quantile, time) in figures {
            if trend.at(quantile).is_none() {
                trend.insert_quantile(quantile, time);
            }
        }
        block.last_line = line;
    }
}

impl Table {
    fn into_block(self) -> Option<Block> {
        let all = || self.sum.iter().chain(&self.rows);
        let last = all().map(|row| row.line).max()?;
        let count = |of: fn(&Row) -> f64| match &self.sum {
            Some(sum) => of(sum),
            None => self.rows.iter().map(of).sum(),
        };
        let requests = count(|row| row.requests);
        if requests <= 0.0 {
            return None;
        }
        // Old versions print no times in the totals row. If there is only one request, its times
        // are the same.
        let timed = self
            .sum
            .as_ref()
            .filter(|sum| sum.figure("Avg").is_some())
            .or(match &self.rows[..] {
                [only] => Some(only),
                _ => None,
            });
        let line = self.sum.as_ref().map_or(last, |sum| sum.line);
        let mut block = Block::new(Tool::Locust, "Locust table", self.line);
        block.last_line = last;
        block.requests = Some(Quantity::exact(requests, Unit::Count, line));
        let rated = self.sum.as_ref().or(timed);
        block.rate = rated
            .and_then(|row| row.figure("req/s"))
            .and_then(|rate| parse_unitless(rate, Unit::Rate, line));
        if self.sum.is_none() {
            block.missing.push("Aggregated");
        }
        let failed = count(|row| row.failed);
        block.failures = Some(Tally {
            passed: (requests - failed).max(0.0),
            failed,
            share: self.sum.as_ref().and_then(|sum| sum.share.clone()),
            line,
            inverted: false,
        });
        if self.sum.is_some() {
            block.parts = self.rows.iter().map(Row::to_part).collect();
        }
        if let Some(row) = timed {
            let mut trend = Trend::new(Role::Request, "response time", row.line);
            let time = |name: &str| {
                row.figure(name)
                    .and_then(|text| parse_milliseconds(text, row.line))
            };
            trend.mean = time("Avg");
            trend.min = time("Min");
            trend.max = time("Max");
            let median = row.figure("Med").or_else(|| row.figure("Median"));
            if let Some(median) = median.and_then(|text| parse_rounded_time(text, row.line)) {
                trend.insert_quantile(0.5, median);
            }
            block.trends.push(trend);
        }
        Some(block)
    }
}

impl Row {
    fn to_part(&self) -> Part {
        Part {
            requests: self.requests,
            mean: self
                .figure("Avg")
                .and_then(|text| parse_milliseconds(text, self.line)),
        }
    }

    fn figure(&self, name: &str) -> Option<&str> {
        self.figures
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, figure)| figure.as_str())
    }
}

/// Reads `GET   /hello   117   0(0.00%)   31   17   96   28   2.10   0.00`. In old versions, the
/// totals row has only the rates.
fn parse_row(words: &[&str], columns: &[String], line: usize) -> Option<Row> {
    let shared = words
        .iter()
        .position(|word| word.contains('(') && word.ends_with("%)"));
    let at = match shared {
        Some(at) => at,
        None => words.len().checked_sub(columns.len() + 1)?,
    };
    let (requests, failed) = (words.get(at.checked_sub(1)?)?, words.get(at)?);
    let requests = parse_unitless(requests, Unit::Count, line)?.value;
    let (failed, share) = match failed.split_once('(') {
        Some((count, share)) => (
            count,
            parse_unitless(share.trim_end_matches(')'), Unit::Share, line),
        ),
        None => (*failed, None),
    };
    let failed = parse_unitless(failed, Unit::Count, line)?.value;
    let values = &words[at + 1..];
    let skipped = columns.len().checked_sub(values.len())?;
    let figures: Vec<(String, String)> = columns[skipped..]
        .iter()
        .zip(values)
        .map(|(name, value)| (name.clone(), (*value).to_owned()))
        .collect();
    let numbers = figures
        .iter()
        .all(|(_, value)| parse_unitless(value, Unit::Rate, line).is_some());
    (numbers && !figures.is_empty()).then_some(Row {
        requests,
        failed,
        share,
        figures,
        line,
    })
}

/// The columns of the percentile table in their order. `# reqs` is the first or the last one.
fn parse_percentile_columns(words: &[&str]) -> Vec<String> {
    words
        .iter()
        .filter(|word| word.ends_with('%') || **word == "reqs")
        .map(|word| (*word).to_owned())
        .collect()
}

fn parse_milliseconds(text: &str, line: usize) -> Option<Quantity> {
    parse_duration(&format!("{text} ms"), line)
}

/// Reads a median or another percentile. Locust computes these from times rounded to two digits, so
/// they may exceed the maximum, which is exact.
fn parse_rounded_time(text: &str, line: usize) -> Option<Quantity> {
    let mut time = parse_milliseconds(text, line)?;
    let ms = (time.value * 1e3).round();
    let step = match ms {
        _ if ms < 100.0 => 1.0,
        _ if ms < 1_000.0 => 10.0,
        _ if ms < 10_000.0 => 100.0,
        _ => 1_000.0,
    };
    if ms % step == 0.0 {
        time.step = time.step.max(step / 1e3);
    }
    Some(time)
}
