//! Recorded arrivals: the times in a log, a result file of another tool, or a list.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use plimsoll_units::duration::{LONGEST, format};
use serde_json::Value;

use crate::Rate;

/// The times at which iterations start, from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// The file, as the user specified it.
    pub file: String,
    /// The speed relative to the recording.
    pub speed: f64,
    /// Times since the start of the scenario, in ascending order. Empty until the file is read.
    starts: Arc<[Duration]>,
}

/// The range of the speed.
const SPEEDS: std::ops::RangeInclusive<f64> = 0.001..=1_000_000.0;
/// The minimum duration of a scenario.
const MIN_DURATION: Duration = Duration::from_secs(1);
const SECOND: i128 = 1_000_000_000;

/// One time in a file.
struct Stamp {
    nanos: i128,
    /// Since 1970, not since the start.
    is_absolute: bool,
    /// Rounded down to a second, as in access logs.
    is_whole_second: bool,
}

impl Trace {
    /// Parses `FILE` or `FILE@2x`.
    ///
    /// # Errors
    /// If the file name is missing, or if the speed is out of range.
    pub fn parse(text: &str) -> Result<Trace, String> {
        let factor = text.rsplit_once('@').and_then(|(file, speed)| {
            let speed: f64 = speed.strip_suffix('x')?.parse().ok()?;
            Some((file, speed))
        });
        let (file, speed) = factor.unwrap_or((text, 1.0));
        if file.is_empty() {
            return Err("trace: needs a file".to_owned());
        }
        if !SPEEDS.contains(&speed) {
            return Err(format!(
                "the speed {speed} is not between 0.001 and 1000000"
            ));
        }
        Ok(Trace {
            file: file.to_owned(),
            speed,
            starts: Arc::default(),
        })
    }

    /// Sets the times from the contents of the file.
    ///
    /// # Errors
    /// If a line has no time, or if there are no times.
    pub fn read(&mut self, text: &str) -> Result<(), String> {
        let stamps = stamps(text).map_err(|error| format!("trace {}: {error}", self.file))?;
        let starts = starts(stamps, self.speed);
        if starts.last().is_some_and(|last| *last > LONGEST) {
            return Err(format!(
                "trace {}: its last time is more than {} after its first",
                self.file,
                format(LONGEST)
            ));
        }
        self.starts = starts.into();
        Ok(())
    }

    /// The times since the start of the scenario. Empty until the file is read.
    pub fn starts(&self) -> &Arc<[Duration]> {
        &self.starts
    }

    /// A duration that contains all arrivals, and the mean rate of arrivals in it. `limit` ends the trace early.
    pub fn extent(&self, limit: Option<Duration>) -> (Duration, Rate) {
        let last = self.starts.last().copied().unwrap_or_default();
        // The end itself is not part of the scenario.
        let whole = last
            .saturating_add(Duration::from_millis(1))
            .max(MIN_DURATION);
        let duration = limit.unwrap_or(whole);
        let count = self.starts.partition_point(|at| *at < duration) as u64;
        let rate = Rate {
            count,
            per: duration,
        };
        (duration, rate)
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "trace:{}", self.file)?;
        // If the file name ends like a speed, add the speed, so that the end is not parsed as one.
        let is_ambiguous = self.file.contains('@') && self.file.ends_with('x');
        if self.speed != 1.0 || is_ambiguous {
            write!(f, "@{}x", self.speed)?;
        }
        Ok(())
    }
}

/// Times since the start, in ascending order.
fn starts(mut stamps: Vec<Stamp>, speed: f64) -> Vec<Duration> {
    stamps.sort_by_key(|stamp| stamp.nanos);
    let first = match stamps.first() {
        Some(first) if first.is_absolute => first.nanos,
        _ => 0,
    };
    let mut times: Vec<i128> = stamps.iter().map(|stamp| stamp.nanos - first).collect();
    if stamps.iter().all(|stamp| stamp.is_whole_second) {
        spread_seconds(&mut times);
    }
    let scaled = times.into_iter().map(|nanos| {
        let seconds = nanos as f64 / SECOND as f64 / speed;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    });
    scaled.collect()
}

/// A log with whole seconds does not show when a request arrived within its second. If all of them started at the same
/// time, that would be a burst that did not happen, so they are spread evenly.
fn spread_seconds(times: &mut [i128]) {
    for second in times.chunk_by_mut(|a, b| a == b) {
        let count = second.len() as i128;
        for (at, time) in second.iter_mut().enumerate() {
            *time += SECOND * at as i128 / count;
        }
    }
}

/// All times in a file.
fn stamps(text: &str) -> Result<Vec<Stamp>, String> {
    let stamps = match har(text) {
        Some(stamps) => stamps?,
        None => lines(text)?,
    };
    let Some(first) = stamps.first() else {
        return Err("it contains no time".to_owned());
    };
    if let Some(other) = stamps.iter().find(|s| s.is_absolute != first.is_absolute) {
        let kind = |stamp: &Stamp| match stamp.is_absolute {
            true => "a date",
            false => "a number of seconds since the start",
        };
        return Err(format!(
            "it mixes {} with {}: use one of them",
            kind(first),
            kind(other)
        ));
    }
    Ok(stamps)
}

/// The entries of an HTTP archive. `None` if it is a different file.
fn har(text: &str) -> Option<Result<Vec<Stamp>, String>> {
    if !text.trim_start().starts_with('{') || !text.contains("\"startedDateTime\"") {
        return None;
    }
    let archive: Value = serde_json::from_str(text).ok()?;
    let entries = archive.get("log")?.get("entries")?.as_array()?;
    let read = entries.iter().enumerate().map(|(at, entry)| {
        let date = entry.get("startedDateTime").and_then(Value::as_str);
        date.and_then(date_and_time)
            .ok_or_else(|| format!("entry {} has no startedDateTime", at + 1))
    });
    Some(read.collect())
}

fn lines(text: &str) -> Result<Vec<Stamp>, String> {
    let mut stamps = Vec::new();
    let mut is_first = true;
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        match of_line(line) {
            Some(stamp) => stamps.push(stamp),
            // The first line may contain column names.
            None if is_first => {}
            None => {
                let shown: String = line.chars().take(60).collect();
                return Err(format!(
                    "line {} has no time: {shown:?}; write seconds since the start, Unix times, dates such as \
                     2026-11-02T10:00:00.25Z, lines of an access log, vegeta's CSV or JSON, or an HTTP archive (HAR)",
                    at + 1
                ));
            }
        }
        is_first = false;
    }
    Ok(stamps)
}

/// The time in a line: the member `timestamp` of JSON, the date in the brackets of an access log, or the first column.
fn of_line(line: &str) -> Option<Stamp> {
    if line.starts_with('{') {
        let json: Value = serde_json::from_str(line).ok()?;
        let names = ["timestamp", "time", "ts"];
        return match names.iter().find_map(|name| json.get(*name))? {
            Value::String(text) => date_and_time(text).or_else(|| number(text)),
            Value::Number(value) => number(&value.to_string()),
            _ => None,
        };
    }
    if let Some((_, rest)) = line.split_once('[')
        && let Some((date, _)) = rest.split_once(']')
        && let Some(stamp) = access_log(date)
    {
        return Some(stamp);
    }
    let first = line.split([',', ';', '\t']).next()?.trim();
    let first = first.trim_matches('"');
    date_and_time(first).or_else(|| number(first.split(' ').next()?))
}

/// Seconds since the start, or a Unix time in seconds, milliseconds, microseconds or nanoseconds. The unit is
/// recognized by the size of the number.
fn number(text: &str) -> Option<Stamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let all_digits = |digits: &str| digits.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || !all_digits(whole) || !all_digits(fraction) {
        return None;
    }
    let whole: u64 = whole.parse().ok()?;
    // In each smaller unit, the same time has three more digits.
    let unit = match whole {
        0..100_000_000_000 => SECOND,
        100_000_000_000..100_000_000_000_000 => 1_000_000,
        100_000_000_000_000..100_000_000_000_000_000 => 1_000,
        _ => 1,
    };
    let part: f64 = format!("0.{fraction}0").parse().ok()?;
    Some(Stamp {
        nanos: i128::from(whole) * unit + (part * unit as f64).round() as i128,
        is_absolute: whole >= 1_000_000_000,
        is_whole_second: false,
    })
}

/// RFC 3339: `2026-11-02T10:00:00.25Z`, `2026-11-02 10:00:00+01:00`.
fn date_and_time(text: &str) -> Option<Stamp> {
    let at: Timestamp = text.parse().ok()?;
    Some(Stamp {
        nanos: at.as_nanosecond(),
        is_absolute: true,
        is_whole_second: false,
    })
}

/// The date in the Common Log Format: `02/Nov/2026:10:00:00 +0100`.
fn access_log(text: &str) -> Option<Stamp> {
    let at = Timestamp::strptime("%d/%b/%Y:%H:%M:%S %z", text).ok()?;
    Some(Stamp {
        nanos: at.as_nanosecond(),
        is_absolute: true,
        is_whole_second: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(text: &str) -> Vec<u128> {
        let mut trace = Trace::parse("t").unwrap();
        trace.read(text).unwrap();
        trace.starts().iter().map(Duration::as_millis).collect()
    }

    fn error(text: &str) -> String {
        Trace::parse("t").unwrap().read(text).unwrap_err()
    }

    #[test]
    fn every_format_gives_the_same_times() {
        let expected = [0, 250, 1500];
        for text in [
            "0\n0.25\n1.5\n",
            "# comment\ntime\n1700000000\n1700000000.25\n1700000001.5",
            "1700000000000,200\n1700000000250,200\n1700000001500,200",
            "1700000000000000000,200\n1700000000250000000,500\n1700000001500000000,200",
            "2026-11-02T10:00:00Z,GET /\n2026-11-02T10:00:00.25Z,GET /\n2026-11-02T10:00:01.5Z,GET /",
            "{\"timestamp\":\"2026-11-02T10:00:00Z\"}\n{\"timestamp\":\"2026-11-02T11:00:00.25+01:00\"}\n\
             {\"timestamp\":\"2026-11-02T10:00:01.5Z\"}",
            "{\"log\": {\"entries\": [{\"startedDateTime\": \"2026-11-02T10:00:00.250Z\"},\n\
             {\"startedDateTime\": \"2026-11-02T10:00:00.000Z\"}, {\"startedDateTime\": \"2026-11-02T10:00:01.500Z\"}]}}",
        ] {
            assert_eq!(millis(text), expected, "{text}");
        }
    }

    #[test]
    fn requests_within_a_second_of_an_access_log_are_spread() {
        let line = |second| {
            format!("127.0.0.1 - - [02/Nov/2026:10:00:0{second} +0000] \"GET / HTTP/1.1\" 200 5\n")
        };
        let log: String = [0, 0, 0, 0, 2, 2].map(line).concat();
        assert_eq!(millis(&log), [0, 250, 500, 750, 2000, 2500]);
    }

    #[test]
    fn a_speed_shortens_the_trace() {
        let mut trace = Trace::parse("a@b.csv@4x").unwrap();
        assert_eq!((trace.file.as_str(), trace.speed), ("a@b.csv", 4.0));
        assert_eq!(trace.to_string(), "trace:a@b.csv@4x");
        trace.read("0\n10\n20\n").unwrap();
        assert_eq!(trace.starts()[2], Duration::from_secs(5));
        let (duration, rate) = trace.extent(None);
        assert_eq!(duration, Duration::from_millis(5001));
        assert_eq!(rate.count, 3);
        let (duration, rate) = trace.extent(Some(Duration::from_secs(5)));
        assert_eq!((duration, rate.count), (Duration::from_secs(5), 2));
    }

    #[test]
    fn files_without_times_are_explained() {
        assert!(error("").contains("no time"));
        assert!(error("a\nb\n").contains("line 2"));
        assert!(error("1\n-1\n").contains("line 2"));
        assert!(error("1\n1700000000\n").contains("mixes"));
        for wrong in ["", "f@0x", "f@NaNx", "f@infx"] {
            assert!(Trace::parse(wrong).is_err(), "{wrong}");
        }
    }
}
