//! Feeds one target in this process, and watches over time and memory.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use plimsoll_fuzz::Target;
use plimsoll_fuzz::mutate::{Random, input};

/// One input may take so long, and the process may grow so large.
const LONGEST: Duration = Duration::from_secs(5);
const MOST_MEMORY: u64 = 1 << 30;

/// The exit status of a process that has reported what broke it.
const REPORTED: u8 = 3;

/// A seed that differs from run to run.
pub fn another_seed() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |since| since.as_nanos() as u64)
}

/// Feeds `target` for so many seconds.
pub fn feed(target: &Target, seconds: u64, seed: u64, trace: Option<&Path>) -> ExitCode {
    let watched = Watched::start(target.name);
    let message = Arc::new(Mutex::new(String::new()));
    set_hook(Box::new({
        let message = message.clone();
        move |info| *message.lock().unwrap_or_else(PoisonError::into_inner) = info.to_string()
    }));
    let end = Instant::now() + Duration::from_secs(seconds);
    let mut random = Random::new(seed);
    let mut runs = 0_u64;
    while Instant::now() < end {
        let data = match target
            .seeds
            .get(usize::try_from(runs).unwrap_or(usize::MAX))
        {
            Some(seed) => seed.to_vec(),
            None => input(&mut random, target.seeds, target.words),
        };
        if let Some(trace) = trace
            && let Err(error) = fs::write(trace, &data)
        {
            eprintln!("{}: {error}", trace.display());
            return ExitCode::FAILURE;
        }
        let data = watched.begin(data);
        if catch_unwind(AssertUnwindSafe(|| (target.run)(&data))).is_err() {
            report(
                target.name,
                &data,
                &message.lock().unwrap_or_else(PoisonError::into_inner),
            );
            return ExitCode::from(REPORTED);
        }
        runs += 1;
    }
    println!("{}: {runs} inputs (seed {seed})", target.name);
    ExitCode::SUCCESS
}

/// Says which input broke a target, and how to run it again.
pub fn report(target: &str, data: &[u8], what: &str) {
    let hex: String = data.iter().map(|byte| format!("{byte:02x}")).collect();
    eprintln!("{target}: BROKEN by {} bytes: {what}", data.len());
    eprintln!("  as text: {:?}", String::from_utf8_lossy(data));
    eprintln!("  again:   cargo run -p plimsoll-fuzz -- {target} --input {hex}");
}

/// What is under way, as the watching thread sees it.
struct Watched {
    input: Mutex<Arc<[u8]>>,
    started: Instant,
    /// Nanoseconds after `started` at which the input under way began.
    began: AtomicU64,
}

impl Watched {
    fn start(name: &'static str) -> Arc<Watched> {
        let watched = Arc::new(Watched {
            input: Mutex::new(Arc::new([])),
            started: Instant::now(),
            began: AtomicU64::new(0),
        });
        thread::spawn({
            let watched = watched.clone();
            move || loop {
                thread::sleep(Duration::from_millis(50));
                let began = Duration::from_nanos(watched.began.load(Relaxed));
                let what = if watched.started.elapsed().saturating_sub(began) > LONGEST {
                    format!("it took longer than {LONGEST:?}")
                } else if resident_bytes() > MOST_MEMORY {
                    format!("the process grew beyond {MOST_MEMORY} bytes")
                } else {
                    continue;
                };
                let input = watched.input.lock().unwrap_or_else(PoisonError::into_inner);
                report(name, &input, &what);
                std::process::exit(REPORTED.into());
            }
        });
        watched
    }

    fn begin(&self, data: Vec<u8>) -> Arc<[u8]> {
        let data: Arc<[u8]> = data.into();
        *self.input.lock().unwrap_or_else(PoisonError::into_inner) = data.clone();
        self.began
            .store(self.started.elapsed().as_nanos() as u64, Relaxed);
        data
    }
}

/// Resident memory of this process; 0 where the system does not say it in `/proc`.
fn resident_bytes() -> u64 {
    const PAGE: u64 = 4096;
    let statm = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm
        .split(' ')
        .nth(1)
        .and_then(|pages| pages.parse::<u64>().ok())
        .unwrap_or(0)
        * PAGE
}
