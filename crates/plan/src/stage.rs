//! One stage as written: `{ duration: "10s", target: 20 }` or `10s:20`.

use std::time::Duration;

use crate::error::Fault;

/// A stage in an option, before the plan checks it. Both parts may be missing. The plan turns it into a
/// [`Stage`](crate::Stage).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StageOption {
    /// The time to reach the target.
    pub duration: Option<Duration>,
    /// Users, or iterations per time unit, at the end of the stage.
    pub target: Option<i64>,
}

impl StageOption {
    /// Parses `10s:20`, as in `--stage` and `K6_STAGES`. Either side of the colon may be empty, and the colon may be
    /// missing together with the target.
    ///
    /// # Errors
    /// If the duration or the target is invalid.
    pub fn parse(text: &str) -> Result<StageOption, Fault> {
        let (duration, target) = match text.split_once(':') {
            Some((duration, target)) => (duration.trim(), target.trim()),
            None => (text.trim(), ""),
        };
        let place = || format!("stage \"{}\"", crate::error::excerpt(text));
        let duration = match duration {
            "" => None,
            written => {
                plimsoll_units::duration::needs_unit(written).map_err(|e| Fault::at(place(), e))?;
                let read = plimsoll_units::duration::parse(written);
                Some(read.map_err(|e| Fault::at(place(), e.to_string()))?)
            }
        };
        let target = match target {
            "" => None,
            written => Some(written.parse::<i64>().map_err(|_| {
                Fault::at(
                    place(),
                    "the target is not a whole number: write a stage as \"10s:20\"",
                )
            })?),
        };
        Ok(StageOption { duration, target })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_duration_and_target() {
        let stage = StageOption::parse("10s:20").unwrap();
        assert_eq!(stage.duration, Some(Duration::from_secs(10)));
        assert_eq!(stage.target, Some(20));
        assert_eq!(StageOption::parse("1m").unwrap().target, None);
        assert_eq!(StageOption::parse(":5").unwrap().duration, None);
        let fault = StageOption::parse("10:20").unwrap_err();
        assert!(fault.message.contains("10s"), "{fault}");
    }

    #[test]
    fn names_the_bad_stage() {
        let message = StageOption::parse("10s:lots").unwrap_err().to_string();
        assert!(message.contains("10s:lots"), "{message}");
        assert!(StageOption::parse("10parsecs:3").is_err());
    }
}
