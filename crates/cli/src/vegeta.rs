//! `plimsoll vegeta`: reports of results, of ours and of vegeta's.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::time::Instant;

use plimsoll_scriptless::attack_values::positive_time;
use plimsoll_vegeta::batch::Batch;
use plimsoll_vegeta::plot::Plot;
use plimsoll_vegeta::{Buckets, Hit, Metrics, Results, csv, json, reports};

use crate::args::{EncodeArgs, PlotArgs, ReportArgs, VegetaArgs, VegetaCommand};
use crate::exit::Exit;
use crate::talk::{complain, is_output_lost, mark_lost, say};

/// Runs the command.
pub fn vegeta(args: &VegetaArgs) -> Exit {
    let done = match &args.command {
        VegetaCommand::Report(args) => report(args),
        VegetaCommand::Encode(args) => encode(args),
        VegetaCommand::Plot(args) => plot(args),
    };
    match done {
        Ok(()) => Exit::SUCCESS,
        Err(message) => {
            complain(&message);
            if is_output_lost() {
                Exit::LOST_OUTPUT
            } else {
                Exit::INVALID_CONFIG
            }
        }
    }
}

/// What a report looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Json,
    Histogram,
    HdrPlot,
}

fn report(args: &ReportArgs) -> Result<(), String> {
    let (kind, own_buckets) = match args.kind.as_str() {
        "text" => (Kind::Text, None),
        "json" => (Kind::Json, None),
        "hdrplot" => (Kind::HdrPlot, None),
        other => match other.strip_prefix("hist") {
            Some(buckets) => (
                Kind::Histogram,
                Some(buckets).filter(|text| !text.is_empty()),
            ),
            None => {
                return Err(format!(
                    "-type={other}: there are text, json, hist[0,1ms,10ms] and hdrplot"
                ));
            }
        },
    };
    let buckets = own_buckets
        .or(args.buckets.as_deref())
        .map(Buckets::parse)
        .transpose()?;
    if kind == Kind::Histogram && buckets.is_none() {
        return Err("-type=hist: say which buckets, like -type='hist[0,1ms,10ms]'".to_owned());
    }
    let every = match &args.every {
        Some(text) => Some(positive_time("-every", text)?).filter(|every| !every.is_zero()),
        None => None,
    };
    let mut metrics = Metrics::with_buckets(buckets);
    let mut output = Output::open(&args.output)?;
    let mut told = Instant::now();
    for_each_hit(&args.files, |hit| {
        if args.service_time {
            hit.latency = hit.service.ok_or(
                "--service-time: these results have none; those of plimsoll attack, as it wrote them, do",
            )?;
        }
        metrics.add(hit);
        if every.is_some_and(|every| told.elapsed() >= every) {
            told = Instant::now();
            output.write(CLEAR)?;
            output.write(render(kind, &mut metrics).as_bytes())?;
            output.flush()?;
        }
        Ok(())
    })?;
    if metrics.unlisted_errors() > 0 {
        say(&format!(
            "{} hits failed with errors of more kinds than are listed",
            metrics.unlisted_errors()
        ));
    }
    output.write(render(kind, &mut metrics).as_bytes())?;
    output.flush()
}

/// Clears a terminal and goes to its first line (ECMA-48, ED and CUP).
const CLEAR: &[u8] = b"\x1b[2J\x1b[0;0H";

fn render(kind: Kind, metrics: &mut Metrics) -> String {
    match kind {
        Kind::Text => reports::text(metrics),
        Kind::Json => reports::json(metrics),
        Kind::Histogram => reports::histogram(metrics),
        Kind::HdrPlot => reports::hdr_plot(metrics),
    }
}

fn encode(args: &EncodeArgs) -> Result<(), String> {
    let write: fn(&Hit, &mut String) = match args.to.as_str() {
        "json" => json::write,
        "csv" => csv::write,
        "plimsoll" => return encode_to_ours(args),
        "gob" => {
            return Err(
                "-to=gob: vegeta's binary format is Go's own; write json and give that to vegeta"
                    .to_owned(),
            );
        }
        other => return Err(format!("-to={other}: there are json, csv and plimsoll")),
    };
    let mut output = Output::open(&args.output)?;
    let mut line = String::new();
    for_each_hit(&args.files, |hit| {
        line.clear();
        write(hit, &mut line);
        output.write(line.as_bytes())
    })?;
    output.flush()
}

fn encode_to_ours(args: &EncodeArgs) -> Result<(), String> {
    const FULL: usize = 64 * 1024;
    let mut output = Output::open(&args.output)?;
    let mut batch = Batch::new(Vec::new());
    for_each_hit(&args.files, |hit| {
        batch.push_hit(hit);
        if batch.len() >= FULL {
            output.write(&batch.take(Vec::new()))?;
        }
        Ok(())
    })?;
    output.write(&batch.take(Vec::new()))?;
    output.flush()
}

fn plot(args: &PlotArgs) -> Result<(), String> {
    let mut plot = Plot::default();
    let mut metrics = Metrics::default();
    for_each_hit(&args.files, |hit| {
        plot.add(hit);
        metrics.add(hit);
        Ok(())
    })?;
    let report = reports::text(&mut metrics);
    let page = plot.html(&args.title, args.threshold, &report);
    let mut output = Output::open(&args.output)?;
    output.write(page.as_bytes())?;
    output.flush()
}

/// Reads all files, one after the other.
fn for_each_hit(
    files: &[String],
    mut each: impl FnMut(&mut Hit) -> Result<(), String>,
) -> Result<(), String> {
    let standard = ["stdin".to_owned()];
    let files = if files.is_empty() { &standard } else { files };
    let mut hit = Hit::default();
    for name in files {
        let input: Box<dyn Read> = match name.as_str() {
            "stdin" | "-" => Box::new(std::io::stdin()),
            path => Box::new(
                File::open(path).map_err(|error| format!("{path}: cannot open it: {error}"))?,
            ),
        };
        let mut results = Results::open(input).map_err(|error| format!("{name}: {error}"))?;
        while results
            .next(&mut hit)
            .map_err(|error| format!("{name}: {error}"))?
        {
            each(&mut hit)?;
        }
        if results.was_cut_off() {
            say(&format!(
                "{name}: it ends within a hit; all before it were read"
            ));
        }
    }
    Ok(())
}

/// A file or standard output.
struct Output {
    name: String,
    writer: BufWriter<Box<dyn Write>>,
}

impl Output {
    fn open(name: &str) -> Result<Output, String> {
        let writer: Box<dyn Write> = match name {
            "stdout" | "-" => Box::new(std::io::stdout()),
            path => Box::new(
                File::create(path)
                    .map_err(|error| format!("-output={path}: cannot write it: {error}"))?,
            ),
        };
        Ok(Output {
            name: name.to_owned(),
            writer: BufWriter::with_capacity(1 << 16, writer),
        })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), String> {
        let written = self.writer.write_all(bytes);
        self.told(written)
    }

    fn flush(&mut self) -> Result<(), String> {
        let written = self.writer.flush();
        self.told(written)
    }

    fn told(&self, written: std::io::Result<()>) -> Result<(), String> {
        match written {
            // A reader that has gone away (`| head`) has seen enough.
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                std::process::exit(Exit::SUCCESS.code())
            }
            written => written.map_err(|error| {
                mark_lost();
                format!("cannot write to {}: {error}", self.name)
            }),
        }
    }
}
