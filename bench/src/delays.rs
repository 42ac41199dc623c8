//! Delays of responses, and their distributions by construction.

use std::time::Duration;

use crate::arguments;

/// The delay of a response, as a function of when its request arrived.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// The same delay for every response.
    Fixed(Duration),
    /// `slow` for `slow_share` of the responses, chosen at random, `fast` for the others.
    Bimodal {
        fast: Duration,
        slow: Duration,
        slow_share: f64,
    },
    /// No responses during the first `pause` of every `period`: requests wait until its end. In
    /// addition, every response is delayed by `base`.
    Stall {
        pause: Duration,
        period: Duration,
        base: Duration,
    },
}

impl Delay {
    /// Parses `fixed=1ms`, `bimodal=1ms,20ms@10%`, `stall=1s/5s` or `stall=1s/5s+1ms`.
    pub fn parse(text: &str) -> Result<Delay, String> {
        const FORMS: &str = "a delay is fixed=1ms, bimodal=1ms,20ms@10% or stall=1s/5s+1ms";
        let (law, rest) = text.split_once('=').ok_or(FORMS)?;
        match law {
            "fixed" => Ok(Delay::Fixed(arguments::duration(rest)?)),
            "bimodal" => {
                let (fast, slow) = rest.split_once(',').ok_or(FORMS)?;
                let (slow, share) = slow.split_once('@').ok_or(FORMS)?;
                let percent: f64 = share
                    .strip_suffix('%')
                    .and_then(|number| number.parse().ok())
                    .filter(|percent| (0.0..=100.0).contains(percent))
                    .ok_or(FORMS)?;
                Ok(Delay::Bimodal {
                    fast: arguments::duration(fast)?,
                    slow: arguments::duration(slow)?,
                    slow_share: percent / 100.0,
                })
            }
            "stall" => {
                let (times, base) = rest.split_once('+').unwrap_or((rest, "0ms"));
                let (pause, period) = times.split_once('/').ok_or(FORMS)?;
                let (pause, period) = (arguments::duration(pause)?, arguments::duration(period)?);
                if pause >= period {
                    return Err("a stall must be shorter than its period".to_owned());
                }
                Ok(Delay::Stall {
                    pause,
                    period,
                    base: arguments::duration(base)?,
                })
            }
            _ => Err(FORMS.to_owned()),
        }
    }

    /// The delay of the response to a request that arrived `since_start` after the first one.
    /// `draw` is uniform on [0, 1).
    pub fn of(&self, since_start: Duration, draw: f64) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Bimodal {
                fast,
                slow,
                slow_share,
            } => {
                if draw < slow_share {
                    slow
                } else {
                    fast
                }
            }
            Delay::Stall {
                pause,
                period,
                base,
            } => {
                let period = period.as_nanos().max(1);
                let into = (since_start.as_nanos() % period) as u64;
                base + pause.saturating_sub(Duration::from_nanos(into))
            }
        }
    }

    /// The delay at quantile `q` if requests arrive evenly over whole periods.
    pub fn quantile(&self, q: f64) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Bimodal {
                fast,
                slow,
                slow_share,
            } => {
                if q > 1.0 - slow_share {
                    slow
                } else {
                    fast
                }
            }
            // A request in the pause (a share of pause/period) waits for a time that is uniform on
            // (0, pause]: P(wait > w) = (pause − w) / period.
            Delay::Stall {
                pause,
                period,
                base,
            } => base + pause.saturating_sub(period.mul_f64((1.0 - q).clamp(0.0, 1.0))),
        }
    }
}

/// xorshift64*: the slow responses need not be unpredictable, only evenly distributed.
#[derive(Debug, Clone)]
pub struct Draws(u64);

impl Draws {
    pub fn new(seed: u64) -> Draws {
        Draws(seed | 1)
    }

    /// The next number, uniform on [0, 1).
    pub fn next_unit(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let bits = self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 11;
        bits as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn reads_each_distribution() {
        assert_eq!(Delay::parse("fixed=1ms"), Ok(Delay::Fixed(MS)));
        assert_eq!(
            Delay::parse("bimodal=1ms,20ms@10%"),
            Ok(Delay::Bimodal {
                fast: MS,
                slow: 20 * MS,
                slow_share: 0.1
            })
        );
        assert_eq!(
            Delay::parse("stall=1s/5s+1ms"),
            Ok(Delay::Stall {
                pause: 1000 * MS,
                period: 5000 * MS,
                base: MS
            })
        );
        for wrong in [
            "",
            "fixed",
            "fixed=1",
            "bimodal=1ms@3%",
            "stall=5s/1s",
            "x=1ms",
        ] {
            assert!(Delay::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_stated_quantiles_are_those_of_the_delays_given() {
        let laws = ["fixed=1ms", "bimodal=1ms,20ms@10%", "stall=1s/5s+1ms"];
        for law in laws.map(|law| Delay::parse(law).ok()).into_iter().flatten() {
            let mut draws = Draws::new(7);
            // 100,000 requests, evenly over four periods of 5 s.
            let mut given: Vec<u64> = (0..100_000)
                .map(|n| {
                    let at = Duration::from_micros(200 * n);
                    law.of(at, draws.next_unit()).as_nanos() as u64
                })
                .collect();
            given.sort_unstable();
            for q in [0.5, 0.8, 0.88, 0.92, 0.95, 0.99] {
                let stated = law.quantile(q).as_nanos() as f64;
                let found = crate::quantiles::quantile(&given, q);
                assert!(
                    (stated - found).abs() <= 1e6,
                    "{law:?} at {q}: stated {stated}, found {found}"
                );
            }
        }
    }
}
