//! Reads command lines: the tool that ran, and its options.

use std::borrow::Cow;

use super::Line;
use crate::block::{Block, Model, Tool};
use crate::quantity::{Quantity, Unit, parse_duration, parse_number};

/// A command line on the page.
#[derive(Clone, Debug)]
pub struct Command {
    pub line: usize,
    pub tool: Tool,
    pub text: String,
}

const TOOLS: [(&str, Tool); 19] = [
    ("k6", Tool::K6),
    ("vegeta", Tool::Vegeta),
    ("iperf3", Tool::Iperf3),
    ("wrk2", Tool::Wrk2),
    ("wrk3", Tool::Wrk2),
    ("wrk", Tool::Wrk),
    ("oha", Tool::Oha),
    ("hey", Tool::Hey),
    ("hey_linux_amd64", Tool::Hey),
    ("ab", Tool::Ab),
    ("ghz", Tool::Ghz),
    ("h2load", Tool::H2load),
    ("bombardier", Tool::Bombardier),
    ("autocannon", Tool::Autocannon),
    ("drill", Tool::Drill),
    ("gcannon", Tool::Gcannon),
    ("zrk", Tool::Zrk),
    ("jmeter", Tool::Jmeter),
    ("locust", Tool::Locust),
];

/// Maximum number of commands that are considered.
const MAX_COMMANDS: usize = 4000;

/// Finds every command line that runs a load tool.
pub fn find(lines: &[Line]) -> Vec<Command> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < lines.len() && found.len() < MAX_COMMANDS {
        let line = lines[at];
        at += 1;
        if line.text.len() > 4096 {
            continue;
        }
        let typed = replace_dashes(line.text);
        let Some((tool, start)) = find_tool(&typed) else {
            continue;
        };
        let mut text = typed[start..].trim_end().to_owned();
        // A trailing backslash, or a trailing backquote in PowerShell, continues a command.
        let mut more = 0;
        strip_comment(&mut text);
        while text.ends_with(['\\', '`']) && at < lines.len() && more < 40 {
            text.truncate(text.len() - 1);
            text.push_str(lines[at].text.trim());
            text.push(' ');
            text.truncate(text.trim_end().len());
            strip_comment(&mut text);
            at += 1;
            more += 1;
        }
        found.push(Command {
            line: line.number,
            tool,
            text,
        });
    }
    found
}

/// Replaces the dashes that editors insert at the start of an option with hyphens: `—latency`, `–c 100`.
fn replace_dashes(line: &str) -> Cow<'_, str> {
    if !line.contains(['–', '—']) {
        return Cow::Borrowed(line);
    }
    let mut out = String::with_capacity(line.len());
    let mut letters = line.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        let option = before == ' ' && letters.peek().is_some_and(char::is_ascii_alphabetic);
        match letter {
            '–' if option => out.push('-'),
            '—' if option => out.push_str("--"),
            other => out.push(other),
        }
        before = letter;
    }
    Cow::Owned(out)
}

/// Removes a comment after a continuation backslash: `-c 100 \ # users`.
fn strip_comment(text: &mut String) {
    if let Some(at) = text.rfind("\\ #") {
        text.truncate(at + 1);
    }
}

/// The tool that a line runs, and the position of its command.
fn find_tool(line: &str) -> Option<(Tool, usize)> {
    let mut offset = 0;
    let mut words = Vec::new();
    for word in line.split_whitespace().take(64) {
        let at = line[offset..].find(word)? + offset;
        offset = at + word.len();
        words.push((at, word));
    }
    for (index, (at, word)) in words.iter().enumerate() {
        let bare = word.trim_matches(['"', '\'', '`', '$', '>', '(', ')', '&', '%']);
        let base = bare.rsplit(['/', '\\']).next().unwrap_or(bare);
        let base = base.trim_end_matches(".exe").trim_end_matches(".js");
        let Some((_, tool)) = TOOLS.iter().find(|(name, _)| *name == base) else {
            continue;
        };
        let next = words.get(index + 1).map_or("", |(_, next)| *next);
        let next = next.trim_start_matches(['"', '\'', '`']);
        let runs = match tool {
            Tool::K6 => next == "run",
            Tool::Vegeta => next == "attack",
            Tool::Drill => next.starts_with("--"),
            _ => {
                (next.starts_with('-')
                    && next.len() > 1
                    && !matches!(next, "--help" | "-h" | "--version" | "-V"))
                    || next.starts_with("http")
                    || next.starts_with("localhost")
            }
        };
        if runs {
            return Some((*tool, *at));
        }
    }
    None
}

/// Assigns to each block the command line above it, and applies the options of that command.
pub fn assign(
    blocks: &mut [Block],
    commands: &[Command],
    same_region: impl Fn(usize, usize) -> bool,
) {
    let of = |command: &Command, tool: Tool| {
        let family = |tool| if tool == Tool::Wrk2 { Tool::Wrk } else { tool };
        family(command.tool) == family(tool)
    };
    let mut last_end: Vec<(Tool, usize)> = Vec::new();
    for block in blocks.iter_mut() {
        let family = if block.tool == Tool::Wrk2 {
            Tool::Wrk
        } else {
            block.tool
        };
        let from = last_end
            .iter()
            .rfind(|(tool, _)| *tool == family)
            .map_or(0, |(_, line)| *line);
        let pending: Vec<&Command> = commands
            .iter()
            .filter(|command| {
                of(command, block.tool) && command.line > from && command.line <= block.first_line
            })
            .collect();
        // If several commands follow each other, only the one directly above the block certainly
        // produced it.
        let chosen = match pending[..] {
            [] => None,
            [only] => Some(only),
            [.., last] => same_region(last.line, block.first_line).then_some(last),
        };
        // A command far above the block belongs to the page's introduction, not to this run.
        let near = chosen.filter(|command| {
            block.first_line - command.line <= 60 || same_region(command.line, block.first_line)
        });
        if let Some(command) = near.filter(|command| !is_of_another_run(block, &command.text)) {
            if block.tool == Tool::Wrk && keeps_a_rate(command) {
                block.tool = Tool::Wrk2;
                block.layout = "wrk2 text";
                block.model = Model::Open;
            }
            block.command = Some(command.text.clone());
            apply_options(block);
        }
        last_end.push((family, block.first_line));
    }
    for tool in [Tool::Hey, Tool::Oha, Tool::Ghz, Tool::Bombardier] {
        let mut own = commands.iter().filter(|command| of(command, tool));
        if let (Some(only), None) = (own.next(), own.next()) {
            let later = blocks
                .iter_mut()
                .filter(|block| block.tool == tool && block.first_line > only.line);
            later.for_each(|block| confirm_users(block, only));
        }
    }
}

/// The wrk2 executable is often called wrk, but only wrk2 has an option for the rate.
fn keeps_a_rate(command: &Command) -> bool {
    let words: Vec<&str> = command.text.split_whitespace().collect();
    command.tool == Tool::Wrk2 || flag_value(&words, &["-R", "--rate"]).is_some()
}

/// Applies the number of users of the page's only command to a later run, if that run has the
/// command's duration or count, and a number of requests in flight that fits. The other options of
/// the command may not apply to that run.
fn confirm_users(block: &mut Block, command: &Command) {
    if block.command.is_some() || block.users.is_some() {
        return;
    }
    let mut as_told = block.clone();
    as_told.command = Some(command.text.clone());
    apply_options(&mut as_told);
    let near = |one: &Option<Quantity>, other: &Option<Quantity>, share: f64| {
        one.as_ref()
            .zip(other.as_ref())
            .is_some_and(|(one, other)| {
                (one.value - other.value).abs() <= share * one.value + other.step
            })
    };
    let done = near(&as_told.declared, &block.elapsed, 0.02)
        || near(&as_told.requested_count, &block.requests, 0.005);
    let mean = block.latency().and_then(|latency| latency.mean.as_ref());
    let (Some(users), Some(rate), Some(mean), None) =
        (as_told.users, &block.rate, mean, &as_told.requested_rate)
    else {
        return;
    };
    let share = rate.value * mean.value / users.value;
    if done && (0.75..=1.05).contains(&share) {
        block.users = Some(users);
    }
}

/// Whether the output shows a different number of users than the command requests. If so, the
/// command belongs to another run, and none of its options apply here.
fn is_of_another_run(block: &Block, command: &str) -> bool {
    let prints_users = matches!(
        block.tool,
        Tool::Wrk | Tool::Wrk2 | Tool::Ab | Tool::Bombardier | Tool::Autocannon
    );
    match (&block.users, requested_users(command)) {
        (Some(shown), Some(requested)) => prints_users && (shown.value - requested).abs() > 0.5,
        _ => false,
    }
}

/// The number of users in a command's options.
pub fn requested_users(command: &str) -> Option<f64> {
    let words: Vec<&str> = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '`']))
        .collect();
    let (users, _) = parse_number(flag_value(
        &words,
        &["-c", "--connections", "--concurrency"],
    )?)?;
    Some(users)
}

/// The test duration in a command's options, parsed and as written.
pub fn requested_time(command: &str) -> Option<(f64, String)> {
    let words: Vec<&str> = command
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '`']))
        .collect();
    let written = flag_value(&words, &["-d", "--duration"])?;
    let seconds = match written.parse::<f64>() {
        Ok(seconds) => seconds,
        Err(_) => parse_duration(&written.to_lowercase(), 0)?.value,
    };
    (seconds > 0.0).then(|| (seconds, written.to_owned()))
}

/// The value of the first of these flags: `-c 5`, `-c5`, `--connections=5`.
fn flag_value<'a>(words: &[&'a str], names: &[&str]) -> Option<&'a str> {
    for (at, word) in words.iter().enumerate() {
        for name in names {
            let Some(rest) = word.strip_prefix(name) else {
                continue;
            };
            if rest.is_empty() {
                return words.get(at + 1).copied();
            }
            if let Some(value) = rest.strip_prefix('=') {
                return Some(value);
            }
            let short = name.len() == 2 && !name.starts_with("--");
            if short && rest.starts_with(|letter: char| letter.is_ascii_digit()) {
                return Some(rest);
            }
        }
    }
    None
}

/// Applies the options of the command line: users, counts, times and rates.
fn apply_options(block: &mut Block) {
    let Some(text) = block.command.clone() else {
        return;
    };
    let line = block.first_line;
    let words: Vec<&str> = text
        .split_whitespace()
        .map(|word| word.trim_matches(['"', '\'', '`']))
        .collect();
    let count = |names: &[&str]| {
        let value = flag_value(&words, names)?;
        let (digits, scale) = match value.strip_suffix(['k', 'K']) {
            Some(digits) => (digits, 1e3),
            None => (value, 1.0),
        };
        parse_number(digits)
            .filter(|(n, _)| *n > 0.0)
            .map(|(n, _)| n * scale)
    };
    let exact = |value: f64, unit| Quantity::exact(value, unit, line);
    let time = |names: &[&str]| {
        let value = flag_value(&words, names)?;
        let seconds = match value.parse::<f64>() {
            Ok(seconds) => seconds,
            // wrk and other tools accept an upper-case unit: `30S`.
            Err(_) => parse_duration(&value.to_lowercase(), line)?.value,
        };
        (seconds > 0.0 && seconds.is_finite()).then(|| {
            let mut time = exact(seconds, Unit::Time);
            time.text = value.to_owned();
            time
        })
    };
    let users = |names: &[&str], default: Option<f64>| {
        count(names).or(default).map(|n| exact(n, Unit::Count))
    };
    let (mut declared, mut requested_count, mut requested_rate) = (None, None, None);
    let mut expected = None;
    match block.tool {
        Tool::Wrk | Tool::Wrk2 => {
            expected = users(&["-c", "--connections"], None);
            requested_rate = count(&["-R", "--rate"]).filter(|_| block.tool == Tool::Wrk2);
        }
        Tool::Hey => {
            expected = users(&["-c"], Some(50.0));
            declared = time(&["-z"]);
            requested_count = count(&["-n"]).filter(|_| declared.is_none());
            if let (Some(each), Some(users)) = (count(&["-q"]), &expected) {
                requested_rate = Some(each * users.value);
            }
        }
        Tool::Oha => {
            expected = users(&["-c", "--connections"], Some(50.0));
            declared = time(&["-z", "--duration"]);
            requested_count = count(&["-n"]).filter(|_| declared.is_none());
            requested_rate = count(&["-q", "--query-per-second"]);
        }
        Tool::Ghz => {
            expected = users(&["-c", "--concurrency"], Some(50.0));
            declared = time(&["-z", "--duration"]);
            requested_count = count(&["-n", "--total"]).filter(|_| declared.is_none());
            requested_rate = count(&["-r", "--rps", "-q"]);
        }
        Tool::Ab => {
            expected = users(&["-c"], Some(1.0));
            declared = time(&["-t"]);
            requested_count = count(&["-n"]).filter(|_| declared.is_none());
        }
        Tool::H2load => {
            expected = users(&["-c", "--clients"], Some(1.0));
            declared = time(&["-D", "--duration"]);
            requested_count = count(&["-n", "--requests"]).filter(|_| declared.is_none());
            block.streams =
                count(&["-m", "--max-concurrent-streams"]).map(|n| exact(n, Unit::Count));
            if words.iter().any(|word| word.starts_with("--rps")) {
                block.model = Model::Open;
                block.no_think_time = false;
            }
        }
        Tool::Bombardier => {
            expected = users(&["-c", "--connections"], Some(125.0));
            requested_count = count(&["-n", "--requests"]);
            declared = time(&["-d", "--duration"]).filter(|_| requested_count.is_none());
            requested_rate = count(&["-r", "--rate"]);
        }
        Tool::Autocannon => {
            expected = users(&["-c", "--connections"], Some(10.0));
            declared = time(&["-d", "--duration"]);
            requested_count = count(&["-a", "--amount"]);
            let each = count(&["-r", "--connectionRate"])
                .zip(count(&["-c", "--connections"]).or(Some(10.0)));
            requested_rate =
                count(&["-R", "--overallRate"]).or(each.map(|(rate, users)| rate * users));
            let streams = count(&["-p", "--pipelining"]).filter(|n| *n > 1.0);
            block.streams = block
                .streams
                .take()
                .or(streams.map(|n| exact(n, Unit::Count)));
        }
        Tool::Gcannon => {
            expected = users(&["-c"], Some(100.0));
            declared = time(&["-d"]);
            let streams = count(&["-p"]).filter(|n| *n > 1.0);
            block.streams = block
                .streams
                .take()
                .or(streams.map(|n| exact(n, Unit::Count)));
        }
        Tool::Zrk => {
            expected = users(&["-c", "--connections"], Some(10.0));
            declared = time(&["-d", "--duration"]);
            block.ramp = block
                .ramp
                .or(flag_value(&words, &["-R", "--rate"]).and_then(parse_ramp));
            if block.ramp.is_none() && !words.contains(&"--closed") {
                requested_rate = count(&["-R", "--rate"]);
            }
        }
        Tool::Vegeta => declared = time(&["-duration", "--duration"]),
        Tool::Locust => {
            expected = users(&["-u", "--users", "-c", "--clients"], None);
            declared = time(&["-t", "--run-time"]);
        }
        _ => {}
    }
    block.users = block.users.take().or(expected);
    block.declared = block.declared.take().or(declared);
    block.requested_count = block
        .requested_count
        .take()
        .or(requested_count.map(|n| exact(n, Unit::Count)));
    if let Some(rate) = requested_rate {
        block.requested_rate = Some(exact(rate, Unit::Rate));
        block.model = Model::Open;
        // hey's -q limits each user, and a user that waits for its limit has think time.
        block.no_think_time = false;
    }
    if block.tool == Tool::Ghz && block.requested_rate.is_none() {
        block.model = Model::Closed;
        block.no_think_time = true;
    }
    block.target = block.target.take().or_else(|| find_target(&words));
}

/// Parses `100:5000`, a rate that increases during the run.
fn parse_ramp(text: &str) -> Option<(f64, f64)> {
    let (from, to) = text.split_once(':')?;
    let rate = |text: &str| {
        parse_number(text)
            .map(|(rate, _)| rate)
            .filter(|rate| *rate > 0.0)
    };
    Some((rate(from)?, rate(to)?))
}

/// The target address of a command.
fn find_target(words: &[&str]) -> Option<String> {
    words
        .iter()
        .find(|word| word.contains("://"))
        .or_else(|| {
            words.iter().rev().find(|word| {
                let port = word.rsplit(':').next().unwrap_or("");
                let digits: String = port.chars().take_while(char::is_ascii_digit).collect();
                word.contains(':') && digits.len() >= 2 && !word.starts_with('-')
            })
        })
        .map(|word| (*word).to_owned())
}
