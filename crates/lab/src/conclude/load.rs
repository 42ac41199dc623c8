//! Describes the load of a run, as opposed to its results.

use plimsoll_results::record::Second;

/// The load: the highest number of users, and the average number of running iterations.
pub fn of(seconds: &[Second]) -> impl Iterator<Item = (String, f64)> {
    let users = seconds.iter().map(|second| second.users).max();
    let running: f64 = seconds.iter().map(|second| second.in_flight).sum();
    let running = (!seconds.is_empty()).then(|| running / seconds.len() as f64);
    let users = users.map(|count| ("users".to_owned(), f64::from(count)));
    let running = running.map(|mean| ("running_iterations".to_owned(), mean));
    users.into_iter().chain(running)
}
