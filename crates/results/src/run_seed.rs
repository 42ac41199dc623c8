//! The seeds of runs that a search, a comparison or a lab starts. The random arrivals of each run follow from its seed.

/// The variable that contains the seed of a process's run.
pub const VARIABLE: &str = "PLIMSOLL_ARRIVALS_SEED";

/// The seed of the run with this number among all those of `seed`. The number, from 1, can be read in its last three digits.
pub fn of_run(seed: u64, run: u64) -> u64 {
    seed.wrapping_mul(1_000).wrapping_add(run)
}

/// The seed of this process's own run; 0 if it has none.
pub fn of_this_process() -> u64 {
    let text = std::env::var(VARIABLE).unwrap_or_default();
    text.parse().unwrap_or(0)
}

/// The flag that sets the same seed in another process, if this process has one.
pub fn flag() -> Option<String> {
    let seed = std::env::var(VARIABLE).ok()?;
    Some(format!("--arrivals-seed={seed}"))
}
