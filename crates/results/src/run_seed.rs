//! The seeds of the runs in a search, a comparison or a lab. The random arrivals of each run depend
//! only on its seed.

/// The environment variable that passes a run's seed to another process.
pub const VARIABLE: &str = "PLIMSOLL_ARRIVALS_SEED";

/// The seed of a run, derived from the number of the run and the common `seed`. The last three
/// digits of the seed show the number, which is counted from 1.
pub fn of_run(seed: u64, run: u64) -> u64 {
    seed.wrapping_mul(1_000).wrapping_add(run)
}

/// The seed of this process's run, or 0 if it has none.
pub fn of_this_process() -> u64 {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    text.parse().unwrap_or(0)
}

/// The flag that passes the seed of this process, if it has one, to another process.
pub fn flag() -> Option<String> {
    let seed = std::env::var(VARIABLE).ok()?;
    Some(format!("--arrivals-seed={seed}"))
}
