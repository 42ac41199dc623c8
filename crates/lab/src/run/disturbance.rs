//! Repeats a run if other programs on the machine, or its hypervisor, disturbed it.
//!
//! Whether a run was disturbed depends on neither the system nor its figures. So the remaining runs
//! are not selected by their results. Attempts that do not count are kept with the run, and the
//! report counts them.

/// Maximum number of repetitions of a run, each time the lab runs or resumes.
const MAX_REPETITIONS: usize = 2;

/// Makes attempts until one is not disturbed or the maximum is reached. `attempt` receives the
/// reasons of the attempts so far. `before` contains the reasons from an earlier process.
///
/// # Errors
/// If an attempt fails.
pub fn repeat_if_disturbed<T, E>(
    mut before: Vec<String>,
    attempt: &mut dyn FnMut(&[String]) -> Result<T, E>,
    disturbance: &dyn Fn() -> Option<String>,
    tell: &mut dyn FnMut(&str),
) -> Result<T, E> {
    let limit = before.len() + MAX_REPETITIONS;
    loop {
        let done = attempt(&before)?;
        match disturbance() {
            Some(why) if before.len() < limit => {
                tell(&format!("disturbed, so it is measured again: {why}"));
                before.push(why);
            }
            _ => return Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    /// The number of attempts if the first `disturbed` of them are disturbed, and the reasons that the
    /// last one received.
    fn attempts(before: Vec<String>, disturbed: usize) -> (usize, Vec<String>) {
        let made = Cell::new(0);
        let mut reasons = Vec::new();
        let mut attempt = |before: &[String]| {
            made.set(made.get() + 1);
            reasons = before.to_vec();
            Ok::<(), ()>(())
        };
        let why = || (made.get() <= disturbed).then(|| format!("noise {}", made.get()));
        let done = repeat_if_disturbed(before, &mut attempt, &why, &mut |_| ());
        assert_eq!(done, Ok(()));
        (made.get(), reasons)
    }

    #[test]
    fn a_disturbed_run_is_measured_again_at_most_twice() {
        let first = |disturbed| attempts(Vec::new(), disturbed);
        assert_eq!(first(0), (1, Vec::new()));
        assert_eq!(first(1), (2, vec!["noise 1".to_owned()]));
        assert_eq!(first(2).0, 3);
        assert_eq!(first(9).0, 3);
    }

    #[test]
    fn earlier_attempts_stay_counted_and_do_not_reduce_new_ones() {
        let earlier = || vec!["noise 0".to_owned()];
        assert_eq!(attempts(earlier(), 0), (1, earlier()));
        assert_eq!(attempts(earlier(), 9).0, 3);
        assert_eq!(attempts(earlier(), 9).1.len(), 3);
    }

    #[test]
    fn a_failed_attempt_ends_the_repetition() {
        let failed =
            repeat_if_disturbed::<(), _>(Vec::new(), &mut |_| Err("gone"), &|| None, &mut |_| ());
        assert_eq!(failed, Err("gone"));
    }
}
