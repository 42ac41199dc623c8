//! Measures how much a relay adds to exchanges on new connections, beyond its configured delay.
//!
//! ```text
//! link-exchanges --round-trip 26.4ms [--rate BITS_PER_SECOND] [--jitter 0.5ms] [--loss 0.01]
//!                (--per-second 200 --seconds 10 | --at-once 1000 --bursts 5 --apart 2s) [--watch 0,1]
//! ```
//!
//! Prints the port of its server, reads the port of the relay to it from stdin, starts the exchanges through the
//! relay and a few directly, and prints one JSON object. `excess` is the time of an exchange through the relay minus the
//! median of direct ones, the configured delay and the line's own queueing. The queueing is computed from the times at which messages
//! entered the line.
//! Jitter is subtracted as the same quantile of its known distribution, and a lost message as the round trip of its retransmission.
//! With `--watch 0,1` exchanges during which one of these processors paused are counted separately, and `excess` leaves them out
//! (see [`plimsoll_bench::pauses`]).

use std::io::{self, BufRead, Write};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use plimsoll_bench::arguments::{self, Arguments};
use plimsoll_bench::exchanges::{Exchange, Exchanges, REQUEST, RESPONSE, Start};
use plimsoll_bench::line::{departures, jitter_quantile};
use plimsoll_bench::pauses::{self, Pause, Watch};

/// Maximum direct exchanges per second.
const DIRECT: f64 = 20.0;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            let _ = writeln!(io::stderr(), "link-exchanges: {message}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), String> {
    let known = [
        "round-trip",
        "rate",
        "jitter",
        "loss",
        "per-second",
        "seconds",
        "at-once",
        "bursts",
        "apart",
        "watch",
    ];
    let arguments = Arguments::parse(std::env::args().skip(1), &known)?;
    let path = Path {
        round_trip: time(&arguments, "round-trip")?,
        jitter: time(&arguments, "jitter")?,
        rate: arguments.value("rate")?.unwrap_or(0),
        loss: arguments.value("loss")?.unwrap_or(0.0),
    };
    let starts = starts(&arguments)?;
    let watched: Result<Vec<usize>, _> = match arguments.text("watch") {
        Some(text) => text.split(',').map(str::parse).collect(),
        None => Ok(Vec::new()),
    };
    let watched = watched.map_err(|error| format!("--watch: {error}"))?;
    let mut exchanges = Exchanges::new().map_err(|error| error.to_string())?;
    print_line(&exchanges.port().to_string())?;
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(|error| error.to_string())?;
    let relay = line
        .trim()
        .parse()
        .map_err(|_| format!("`{}` is not the port of a relay", line.trim()))?;
    // The kernel starts to timestamp packets shortly after the request.
    thread::sleep(Duration::from_millis(300));
    let watch = Watch::start(&watched);
    let ended = exchanges
        .run(relay, &starts)
        .map_err(|error| error.to_string())?;
    let pauses = watch.end().map_err(|error| format!("--watch: {error}"))?;
    print_line(&path.report(&ended, &pauses))
}

fn print_line(text: &str) -> Result<(), String> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")
        .and_then(|()| out.flush())
        .map_err(|error| error.to_string())
}

/// The value of a flag in nanoseconds, or 0 if it is not given.
fn time(arguments: &Arguments, name: &str) -> Result<u64, String> {
    let text = arguments.text(name).unwrap_or("0s");
    let time = arguments::duration(text).map_err(|error| format!("--{name}: {error}"))?;
    Ok(time.as_nanos() as u64)
}

/// When exchanges start, in order: those through the relay, and direct ones between them.
fn starts(arguments: &Arguments) -> Result<Vec<Start>, String> {
    let nanos = |seconds: f64| (seconds * 1e9) as u64;
    let mut starts = Vec::new();
    if let Some(rate) = arguments.value::<f64>("per-second")? {
        let seconds: f64 = arguments.value("seconds")?.unwrap_or(10.0);
        let every = 1.0 / rate;
        starts.extend((0..(seconds * rate) as u64).map(|n| (nanos(n as f64 * every), false)));
        let direct = rate.min(DIRECT);
        let between = |n: u64| nanos(n as f64 / direct + every / 2.0);
        starts.extend((0..(seconds * direct) as u64).map(|n| (between(n), true)));
    } else {
        let at_once: usize = arguments
            .value("at-once")?
            .ok_or("--per-second or --at-once is missing")?;
        let bursts: u64 = arguments.value("bursts")?.unwrap_or(5);
        let apart = time(arguments, "apart")?;
        for burst in 0..bursts {
            starts.extend(std::iter::repeat_n((burst * apart, false), at_once));
            // In the quiet half between two bursts.
            let later = burst * apart + apart / 2;
            starts.extend((0..10).map(|n| (later + n * apart / 20, true)));
        }
    }
    starts.sort_unstable();
    Ok(starts)
}

/// A network path as the relay was configured, in nanoseconds and bits per second.
struct Path {
    round_trip: u64,
    jitter: u64,
    rate: u64,
    loss: f64,
}

impl Path {
    fn report(&self, exchanges: &[Exchange], pauses: &[Pause]) -> String {
        let ended = |direct: bool| {
            let of_kind = exchanges.iter().filter(move |one| one.direct == direct);
            of_kind.filter(|one| one.response > 0).copied()
        };
        let through: Vec<Exchange> = ended(false).collect();
        let unfinished = exchanges.iter().filter(|one| one.response == 0).count();
        let mut direct: Vec<f64> = ended(true).map(|one| one.on_the_network() as f64).collect();
        direct.sort_by(f64::total_cmp);
        let direct_median = quantile(&direct, 0.5);
        let mut lost = 0_u64;
        let mut excess: Vec<f64> = through
            .iter()
            .zip(self.expected(&through))
            // A pause leaves work behind that delays exchanges of the same burst, even those that start after the pause.
            .filter(|(exchange, _)| !pauses::any_between(pauses, exchange.due, exchange.response))
            .map(|(exchange, expected)| {
                let excess = exchange.on_the_network() as f64 - expected as f64 - direct_median;
                let repeats = self.repeats(excess);
                lost += repeats;
                excess - (repeats * self.round_trip) as f64
            })
            .collect();
        excess.sort_by(f64::total_cmp);
        let beyond = |q: f64| {
            let jitter = jitter_quantile(self.jitter as f64 / 2.0, q);
            (quantile(&excess, q) - jitter) / 1e6
        };
        let ms = |nanos: f64| nanos / 1e6;
        let paused: u64 = pauses.iter().map(|(begin, end)| end - begin).sum();
        // Each exchange is two messages of one packet.
        format!(
            "{{\"exchanges\":{},\"unfinished\":{unfinished},\"messages\":{},\"lost\":{lost},\
             \"pauses\":{},\"paused_ms\":{:.3},\"during_pauses\":{},\
             \"direct_ms\":{{\"p50\":{:.4},\"p99\":{:.4}}},\
             \"excess_ms\":{{\"min\":{:.4},\"p50\":{:.4},\"p90\":{:.4},\"p99\":{:.4},\"max\":{:.4}}}}}",
            through.len(),
            2 * excess.len(),
            pauses.len(),
            ms(paused as f64),
            through.len() - excess.len(),
            ms(direct_median),
            ms(quantile(&direct, 0.99)),
            beyond(0.0),
            beyond(0.5),
            beyond(0.9),
            beyond(0.99),
            beyond(1.0),
        )
    }

    /// The time that the path adds to each exchange: the round trip of the handshake, the line, and
    /// half a round trip in each direction.
    fn expected(&self, exchanges: &[Exchange]) -> Vec<u64> {
        let entered: Vec<u64> = exchanges
            .iter()
            .map(|one| one.started + self.round_trip)
            .collect();
        let forward = departures(&entered, REQUEST as u64 * 8, self.rate);
        let entered: Vec<u64> = exchanges.iter().map(|one| one.responded).collect();
        let backward = departures(&entered, RESPONSE as u64 * 8, self.rate);
        exchanges
            .iter()
            .zip(forward.iter().zip(&backward))
            .map(|(one, (forward, backward))| {
                (forward - one.started) + (backward - one.responded) + self.round_trip
            })
            .collect()
    }

    /// The number of messages that were lost and retransmitted in an exchange with this excess.
    fn repeats(&self, excess: f64) -> u64 {
        if self.loss == 0.0 || excess < 0.0 {
            return 0;
        }
        (excess / self.round_trip as f64).round() as u64
    }
}

/// The value at quantile `q` of sorted `values`, interpolated linearly; 0 when there are none.
fn quantile(values: &[f64], q: f64) -> f64 {
    let Some(last) = values.len().checked_sub(1) else {
        return 0.0;
    };
    let place = q * last as f64;
    let at = |place: f64| values.get(place as usize).copied().unwrap_or(0.0);
    at(place.floor()) + (at(place.ceil()) - at(place.floor())) * place.fract()
}
