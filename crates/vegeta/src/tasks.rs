//! The tasks of `plimsoll vegeta`: report, convert and plot result files.

use std::fs::File;
use std::io::{BufWriter, Read, Write};
use std::time::{Duration, Instant};

use crate::batch::Batch;
use crate::plot::Plot;
use crate::{Buckets, Hit, Metrics, Results, csv, json, reports};

/// Clears a terminal and moves to its first line (ECMA-48, ED and CUP).
const CLEAR: &[u8] = b"\x1b[2J\x1b[0;0H";
/// Size of the batches in our own format.
const BATCH: usize = 64 * 1024;

/// Why a task failed.
#[derive(Debug)]
pub enum Failure {
    /// A flag or a results file is invalid.
    Input(String),
    Output(std::io::Error),
}

impl From<String> for Failure {
    fn from(message: String) -> Failure {
        Failure::Input(message)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// The files to read. `stdin` or `-` is stdin.
pub struct Inputs {
    pub files: Vec<String>,
    /// Notes about the files for the user.
    pub notes: Vec<String>,
}

impl Inputs {
    fn for_each(
        &mut self,
        mut each: impl FnMut(&mut Hit) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        if self.files.is_empty() {
            self.files.push("stdin".to_owned());
        }
        let mut hit = Hit::default();
        for name in &self.files {
            let wrong = |error: &dyn std::fmt::Display| format!("{name}: {error}");
            let input: Box<dyn Read> = match name.as_str() {
                "stdin" | "-" => Box::new(std::io::stdin()),
                path => Box::new(
                    File::open(path).map_err(|error| format!("{path}: cannot open it: {error}"))?,
                ),
            };
            let mut results = Results::open(input).map_err(|error| wrong(&error))?;
            while results.next(&mut hit).map_err(|error| wrong(&error))? {
                each(&mut hit)?;
            }
            if results.was_cut_off() {
                let note = "it ends within a hit; all hits before it were read";
                self.notes.push(format!("{name}: {note}"));
            }
        }
        Ok(())
    }
}

/// Opens the output: a file, or stdout for `stdout` or `-`.
///
/// # Errors
/// If the file cannot be created.
pub fn open_output(place: &str) -> Result<BufWriter<Box<dyn Write>>, String> {
    let writer: Box<dyn Write> = match place {
        "stdout" | "-" => Box::new(std::io::stdout()),
        path => Box::new(
            File::create(path)
                .map_err(|error| format!("-output={path}: cannot write it: {error}"))?,
        ),
    };
    Ok(BufWriter::with_capacity(1 << 16, writer))
}

/// Summarizes hits.
pub struct Report {
    form: Form,
    buckets: Option<Buckets>,
    /// Also report at this interval.
    every: Option<Duration>,
    /// Use service times instead of latencies.
    service_time: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Text,
    Json,
    Histogram,
    HdrPlot,
}

impl Report {
    /// Parses the values of `-type`, `-buckets` and `-every`.
    ///
    /// # Errors
    /// If one is invalid. The message contains the correct syntax.
    pub fn parse(
        form: &str,
        buckets: Option<&str>,
        every: Option<&str>,
        service_time: bool,
    ) -> Result<Report, String> {
        let (form, own_buckets) = match form {
            "text" => (Form::Text, None),
            "json" => (Form::Json, None),
            "hdrplot" => (Form::HdrPlot, None),
            other => match other.strip_prefix("hist") {
                Some("") => (Form::Histogram, None),
                Some(buckets) => (Form::Histogram, Some(buckets)),
                None => {
                    return Err(format!(
                        "-type={other}: use text, json, hist[0,1ms,10ms] or hdrplot"
                    ));
                }
            },
        };
        let buckets = own_buckets.or(buckets).map(Buckets::parse).transpose()?;
        if form == Form::Histogram && buckets.is_none() {
            return Err("-type=hist: give the buckets, like -type='hist[0,1ms,10ms]'".to_owned());
        }
        let every = every.map(|text| {
            plimsoll_units::duration::parse_with_unit(text)
                .map_err(|error| format!("-every={text}: {error}"))
        });
        Ok(Report {
            form,
            buckets,
            every: every.transpose()?.filter(|every| !every.is_zero()),
            service_time,
        })
    }

    /// Reads the hits and writes the report.
    ///
    /// # Errors
    /// If a file is invalid, or if the report cannot be written.
    pub fn run(self, inputs: &mut Inputs, output: &mut dyn Write) -> Result<(), Failure> {
        let mut metrics = Metrics::with_buckets(self.buckets);
        let form = self.form;
        let mut last = Instant::now();
        inputs.for_each(|hit| {
            if self.service_time {
                hit.latency = hit.service.ok_or_else(|| {
                    "--service-time: these results have none; only results that plimsoll attack wrote do"
                        .to_owned()
                })?;
            }
            metrics.add(hit);
            if self.every.is_some_and(|every| last.elapsed() >= every) {
                last = Instant::now();
                output.write_all(CLEAR)?;
                output.write_all(form.render(&mut metrics).as_bytes())?;
                output.flush()?;
            }
            Ok(())
        })?;
        if metrics.unlisted_errors() > 0 {
            inputs.notes.push(format!(
                "{} more hits failed with errors that are not listed",
                metrics.unlisted_errors()
            ));
        }
        output.write_all(form.render(&mut metrics).as_bytes())?;
        Ok(())
    }
}

impl Form {
    fn render(self, metrics: &mut Metrics) -> String {
        match self {
            Form::Text => reports::text(metrics),
            Form::Json => reports::json(metrics),
            Form::Histogram => reports::histogram(metrics),
            Form::HdrPlot => reports::hdr_plot(metrics),
        }
    }
}

/// A format to convert hits to.
#[derive(Clone, Copy, Debug)]
pub enum Encoding {
    Json,
    Csv,
    /// The format of `plimsoll attack`.
    Plimsoll,
}

impl Encoding {
    /// Parses the value of `-to`.
    ///
    /// # Errors
    /// If it is unknown. The message lists the valid formats.
    pub fn parse(text: &str) -> Result<Encoding, String> {
        match text {
            "json" => Ok(Encoding::Json),
            "csv" => Ok(Encoding::Csv),
            "plimsoll" => Ok(Encoding::Plimsoll),
            "gob" => Err(
                "-to=gob: vegeta's binary format is Go's own; write json and give that to vegeta"
                    .to_owned(),
            ),
            other => Err(format!("-to={other}: use json, csv or plimsoll")),
        }
    }

    /// Reads the hits and writes them in this format.
    ///
    /// # Errors
    /// If a file is invalid, or if the hits cannot be written.
    pub fn run(self, inputs: &mut Inputs, output: &mut dyn Write) -> Result<(), Failure> {
        let write = match self {
            Encoding::Json => json::write,
            Encoding::Csv => csv::write,
            Encoding::Plimsoll => {
                let mut batch = Batch::new(Vec::new());
                inputs.for_each(|hit| {
                    batch.push_hit(hit);
                    if batch.len() >= BATCH {
                        output.write_all(&batch.take(Vec::new()))?;
                    }
                    Ok(())
                })?;
                output.write_all(&batch.take(Vec::new()))?;
                return Ok(());
            }
        };
        let mut line = String::new();
        inputs.for_each(|hit| {
            line.clear();
            write(hit, &mut line);
            Ok(output.write_all(line.as_bytes())?)
        })
    }
}

/// Reads the hits and writes a page that plots them, with at most `threshold` points per series.
///
/// # Errors
/// If a file is invalid, or if the page cannot be written.
pub fn plot(
    title: &str,
    threshold: usize,
    inputs: &mut Inputs,
    output: &mut dyn Write,
) -> Result<(), Failure> {
    let mut plot = Plot::default();
    let mut metrics = Metrics::default();
    inputs.for_each(|hit| {
        plot.add(hit);
        metrics.add(hit);
        Ok(())
    })?;
    let report = reports::text(&mut metrics);
    output.write_all(plot.html(title, threshold, &report).as_bytes())?;
    Ok(())
}
