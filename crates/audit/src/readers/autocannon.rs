//! Reads `autocannon`. It prints two tables, either boxed or as Markdown; older versions print rows
//! of three figures. Latencies are truncated to whole milliseconds.

use super::{BOUNDARY, Line};
use crate::block::{Block, Model, Role, Tool, Trend};
use crate::quantity::{Quantity, Unit, parse_duration, parse_number, parse_unitless};

pub fn read(lines: &[Line]) -> Vec<Block> {
    let mut reader = Reader::default();
    for line in lines {
        reader.read_line(line.text.trim(), line.number);
    }
    let mut blocks = reader.blocks;
    blocks.retain(|block| block.rate.is_some() || block.requests.is_some());
    blocks
}

#[derive(Default)]
struct Reader {
    blocks: Vec<Block>,
    open: bool,
    /// The last `Running …` line. wrk prints the same line.
    running: Option<(usize, Option<Quantity>, String)>,
    users: Option<Quantity>,
    streams: Option<Quantity>,
    columns: Vec<String>,
}

impl Reader {
    fn read_line(&mut self, text: &str, line: usize) {
        if text == BOUNDARY {
            self.open = false;
            self.columns.clear();
            return;
        }
        if text.starts_with("Running ") && text.contains(" test @ ") {
            if let Some((time, url)) = text["Running ".len()..].split_once(" test @ ") {
                self.running = Some((line, parse_duration(time, line), url.to_owned()));
            }
            (self.users, self.streams) = (None, None);
            self.open = false;
            return;
        }
        let words: Vec<&str> = text.split_whitespace().take(12).collect();
        match words[..] {
            [users, "connections"] => self.users = parse_unitless(users, Unit::Count, line),
            [
                users,
                "connections",
                "with",
                streams,
                "pipelining",
                "factor",
            ] => {
                self.users = parse_unitless(users, Unit::Count, line);
                self.streams = parse_unitless(streams, Unit::Count, line);
            }
            _ => {}
        }
        if text.contains("</td>") {
            for row in html_rows(text) {
                let cells: Vec<&str> = row.iter().map(String::as_str).collect();
                self.read_cells(&cells, line);
            }
        } else if text.starts_with('│') || text.starts_with('┃') {
            let cells: Vec<&str> = text
                .trim_matches(['│', '┃'])
                .split(['│', '┃'])
                .map(str::trim)
                .collect();
            self.read_cells(&cells, line);
        } else if let (["Latency", "(ms)", values @ ..], true) = (
            &words[..],
            self.columns.iter().any(|column| column.ends_with('%')),
        ) {
            let values: Vec<String> = values.iter().map(|value| format!("{value}ms")).collect();
            let cells: Vec<&str> = ["Latency"]
                .into_iter()
                .chain(values.iter().map(String::as_str))
                .collect();
            self.read_cells(&cells, line);
        } else if let ["Latency", "(ms)", mean, _, max] = words[..] {
            self.start_block(line);
            let trend = self
                .blocks
                .last_mut()
                .and_then(|block| block.trends.first_mut());
            if let Some(trend) = trend {
                trend.mean = parse_milliseconds(mean, line);
                trend.max = parse_milliseconds(max, line);
            }
        } else if let (["Req/Sec", mean, _, _], true) = (&words[..], self.open) {
            if let Some(block) = self.blocks.last_mut() {
                block.rate = parse_unitless(mean, Unit::Rate, line);
            }
        } else if let ["Stat", columns @ ..] = &words[..] {
            self.columns = columns.iter().map(|&name| name.to_owned()).collect();
        } else if let Some(cells) = self.markdown_cells(text) {
            let cells: Vec<&str> = cells.iter().map(String::as_str).collect();
            self.read_cells(&cells, line);
        } else if self.open {
            self.read_closing_line(&words, line);
        }
        if let Some(block) = self.blocks.last_mut().filter(|_| self.open) {
            block.last_line = line;
        }
    }

    /// The cells of a table row in Markdown. An earlier step has replaced the bars with spaces.
    fn markdown_cells(&self, text: &str) -> Option<Vec<String>> {
        let (name, rest) = text.split_once(char::is_whitespace)?;
        if self.columns.is_empty() || !matches!(name, "Latency" | "Req/Sec") {
            return None;
        }
        let mut cells = vec![name.to_owned()];
        for word in rest.split_whitespace() {
            if word.starts_with(|letter: char| letter.is_ascii_digit()) {
                cells.push(word.to_owned());
            } else {
                // A figure and its unit belong to one cell: `195 ms`.
                let figure = cells.get_mut(1..)?.last_mut()?;
                figure.push(' ');
                figure.push_str(word);
            }
        }
        (cells.len() == self.columns.len() + 1).then_some(cells)
    }

    fn start_block(&mut self, line: usize) {
        let (first, declared, target) = match self.running.take() {
            Some((line, time, url)) => (line, time, Some(url)),
            None => (line, None, None),
        };
        let mut block = Block::new(Tool::Autocannon, "autocannon text", first);
        block.model = Model::Closed;
        block.no_think_time = true;
        block.declared = declared;
        block.target = target;
        block.users = self.users.take();
        block.streams = self.streams.take();
        block
            .trends
            .push(Trend::new(Role::Request, "Latency", line));
        self.blocks.push(block);
        self.open = true;
    }

    fn read_cells(&mut self, cells: &[&str], line: usize) {
        match cells {
            ["Stat", rest @ ..] => {
                self.columns = rest.iter().map(|&cell| cell.to_owned()).collect()
            }
            ["Latency", rest @ ..] => {
                self.start_block(line);
                let Some(trend) = self
                    .blocks
                    .last_mut()
                    .and_then(|block| block.trends.first_mut())
                else {
                    return;
                };
                for (column, cell) in self.columns.iter().zip(rest) {
                    let Some(figure) = parse_duration(cell, line) else {
                        continue;
                    };
                    match column.as_str() {
                        "Avg" => trend.mean = Some(figure),
                        "Max" => trend.max = Some(figure),
                        _ => {
                            if let Some(percent) =
                                column.strip_suffix('%').and_then(|p| p.parse::<f64>().ok())
                                && percent > 0.0
                                && percent < 100.0
                            {
                                trend.insert_quantile(percent / 100.0, figure);
                            }
                        }
                    }
                }
            }
            ["Req/Sec", rest @ ..] if self.open => {
                let mean = self
                    .columns
                    .iter()
                    .zip(rest)
                    .find(|(column, _)| *column == "Avg");
                if let (Some((_, mean)), Some(block)) = (mean, self.blocks.last_mut()) {
                    block.rate = parse_unitless(mean, Unit::Rate, line);
                }
            }
            [code, count] if self.open && code.len() == 3 => {
                if let (Ok(_), Some(count), Some(block)) = (
                    code.parse::<u16>(),
                    parse_unitless(count, Unit::Count, line),
                    self.blocks.last_mut(),
                ) {
                    block.statuses.push(((*code).to_owned(), count));
                }
            }
            _ => {}
        }
    }

    /// `83k requests in 20.01s, 29.7 MB read`, `192 errors (187 timeouts)`,
    /// `0 2xx responses, 211216 non 2xx responses`.
    fn read_closing_line(&mut self, words: &[&str], line: usize) {
        let Some(block) = self.blocks.last_mut() else {
            return;
        };
        match words {
            [count, "requests", "in", time, ..] => {
                block.requests = parse_thousands(count, line);
                block.elapsed = parse_duration(time.trim_end_matches(','), line);
            }
            [errors, "errors", timeouts, "timeouts)", ..] => {
                let count = |text: &str| {
                    parse_thousands(text.trim_start_matches('('), line).map(|n| n.value)
                };
                if let (Some(failed), Some(timeouts)) = (count(errors), count(timeouts)) {
                    block.set_failed(failed, line);
                    block
                        .errors
                        .push((format!("{} errors, {timeouts} timeouts", words[0]), line));
                    block.lost = Some(Quantity::exact(failed, Unit::Count, line));
                }
            }
            [good, "2xx", "responses,", bad, "non", "2xx", "responses"] => {
                for (name, count) in [("2xx", good), ("non-2xx", bad)] {
                    if let Some(count) = parse_unitless(count, Unit::Count, line) {
                        block.statuses.push((name.to_owned(), count));
                    }
                }
            }
            _ => {}
        }
    }
}

/// The cells of an HTML table by row, as far as one line contains them.
fn html_rows(text: &str) -> Vec<Vec<String>> {
    const MAX_COUNT: usize = 64;
    let rows = text.split("</tr>").take(MAX_COUNT);
    rows.map(|row| {
        let cells = row.split("</td>").flat_map(|part| part.split("</th>"));
        let mut cells: Vec<String> = cells
            .take(MAX_COUNT)
            .map(|cell| strip_tags(cell).trim().to_owned())
            .collect();
        // The text after the last closing tag is not a cell.
        cells.pop();
        cells
    })
    .collect()
}

fn strip_tags(text: &str) -> String {
    let mut out = String::new();
    let mut in_tag = false;
    for letter in text.chars() {
        match letter {
            '<' => in_tag = true,
            '>' => in_tag = false,
            letter if !in_tag => out.push(letter),
            _ => {}
        }
    }
    out
}

/// Parses a count such as `83k`, whose last digit's step is a thousand.
fn parse_thousands(text: &str, line: usize) -> Option<Quantity> {
    let (digits, scale) = match text.strip_suffix('k') {
        Some(digits) => (digits, 1e3),
        None => (text, 1.0),
    };
    let (value, step) = parse_number(digits)?;
    Some(Quantity {
        value: value * scale,
        unit: Unit::Count,
        step: if scale > 1.0 { step * scale } else { 0.0 },
        text: text.to_owned(),
        line,
    })
}

fn parse_milliseconds(text: &str, line: usize) -> Option<Quantity> {
    parse_duration(&format!("{text}ms"), line)
}
