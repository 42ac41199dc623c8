//! Maps values to positions, and chooses round values for ticks.

/// One axis of a plot. It maps values from `low` to `high` to positions from `from` to `to`, in the
/// units of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
    logarithmic: bool,
}

/// The scale is logarithmic if the largest value divided by the smallest value exceeds this ratio.
const WIDE: f64 = 25.0;

impl Scale {
    /// Creates a scale that contains all of `values` and ends at round values. It is logarithmic if
    /// the values are positive and span more than a factor of 25. Otherwise it begins at 0.
    pub fn over(values: impl IntoIterator<Item = f64>, from: f64, to: f64) -> Scale {
        let (low, high) = extent(values);
        if low > 0.0 && high / low > WIDE {
            Scale::logarithmic(low, high, from, to)
        } else {
            Scale::linear(low.min(0.0), high, from, to)
        }
    }

    /// Creates a scale from `low` to `high`, both moved outward to round values.
    pub fn linear(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        let step = step(high - low, 5.0);
        Scale {
            low: (low / step).floor() * step,
            high: (high / step - 1e-9).ceil() * step,
            from,
            to,
            logarithmic: false,
        }
    }

    /// Creates a scale from `low` to `high` exactly.
    pub fn exact(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let high = if high > low { high } else { low + 1.0 };
        Scale {
            low,
            high,
            from,
            to,
            logarithmic: false,
        }
    }

    /// Creates a logarithmic scale from `low` to `high`, both moved outward to 1, 2 or 5 times a
    /// power of ten. Both must be above 0. Values of zero or less are placed at the lower end.
    pub fn logarithmic(low: f64, high: f64, from: f64, to: f64) -> Scale {
        let low = if low > 0.0 { low } else { 1.0 };
        let high = if high > low { high } else { low * 10.0 };
        Scale {
            low: round_down(low),
            high: round_up(high),
            from,
            to,
            logarithmic: true,
        }
    }

    /// Creates a logarithmic scale from `low` to `high` exactly. Both must be above 0.
    pub fn ratio(low: f64, high: f64, from: f64, to: f64) -> Scale {
        Scale {
            low,
            high: if high > low { high } else { low * 2.0 },
            from,
            to,
            logarithmic: true,
        }
    }

    /// Whether the scale is logarithmic, so that equal distances mean equal ratios.
    pub fn is_logarithmic(&self) -> bool {
        self.logarithmic
    }

    /// The values at the lower and the upper end.
    pub fn ends(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The position of `value`. Values outside of the scale are placed at the nearer end.
    pub fn at(&self, value: f64) -> f64 {
        let share = if self.logarithmic {
            (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
        } else {
            (value - self.low) / (self.high - self.low)
        };
        let share = if share.is_finite() {
            share.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.from + share * (self.to - self.from)
    }

    /// About `max` round values.
    pub fn ticks(&self, max: usize) -> Vec<f64> {
        if self.logarithmic {
            self.logarithmic_ticks(max)
        } else {
            let step = step(self.high - self.low, max as f64);
            let first = (self.low / step - 1e-9).ceil() as i64;
            let last = (self.high / step + 1e-9).floor() as i64;
            (first..=last.min(first.saturating_add(50)))
                .map(|index| index as f64 * step)
                .collect()
        }
    }

    fn logarithmic_ticks(&self, max: usize) -> Vec<f64> {
        let first = self.low.log10().floor() as i32;
        let last = self.high.log10().ceil() as i32;
        let inside = |value: &f64| *value >= self.low * 0.999 && *value <= self.high * 1.001;
        for marks in [&[1.0, 2.0, 5.0][..], &[1.0, 3.0], &[1.0]] {
            let ticks: Vec<f64> = (first..=last)
                .flat_map(|power| marks.iter().map(move |mark| mark * 10_f64.powi(power)))
                .filter(inside)
                .collect();
            if ticks.len() <= max && ticks.len() >= 2 {
                return ticks;
            }
        }
        let powers: Vec<i32> = (first..=last).collect();
        let every = powers.len().div_ceil(max.max(1)).max(1);
        powers
            .into_iter()
            .step_by(every)
            .map(|power| 10_f64.powi(power))
            .filter(inside)
            .collect()
    }
}

/// The smallest and the largest finite value, or 0 and 1 if there are none.
pub fn extent(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .into_iter()
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

/// A step of 1, 2 or 5 times a power of ten, so that about `max` steps fit into `span`.
fn step(span: f64, max: f64) -> f64 {
    let rough = span / max.max(1.0);
    let power = 10_f64.powf(rough.log10().floor());
    let mantissa = [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .find(|mantissa| mantissa * power >= rough * 0.999)
        .unwrap_or(10.0);
    let step = mantissa * power;
    if step.is_finite() && step > 0.0 {
        step
    } else {
        1.0
    }
}

fn round_down(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    [5.0, 2.0, 1.0]
        .into_iter()
        .map(|mantissa| mantissa * power)
        .find(|round| *round <= value * 1.000_001)
        .unwrap_or(power)
}

fn round_up(value: f64) -> f64 {
    let power = 10_f64.powf((value.log10() + 1e-9).floor());
    [1.0, 2.0, 5.0, 10.0]
        .into_iter()
        .map(|mantissa| mantissa * power)
        .find(|round| *round >= value * 0.999_999)
        .unwrap_or(power * 10.0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ticks_are_round() {
        let scale = Scale::linear(0.0, 93.0, 0.0, 100.0);
        assert_eq!(scale.ticks(5), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        let scale = Scale::logarithmic(0.7, 300.0, 0.0, 100.0);
        assert_eq!(scale.ends(), (0.5, 500.0));
        assert_eq!(scale.ticks(7), [1.0, 3.0, 10.0, 30.0, 100.0, 300.0]);
        assert_eq!(scale.ticks(4), [1.0, 10.0, 100.0]);
    }

    #[test]
    fn wide_positive_values_are_shown_in_the_logarithm() {
        assert!(Scale::over([1.0, 26.0], 0.0, 1.0).is_logarithmic());
        assert!(!Scale::over([1.0, 24.0], 0.0, 1.0).is_logarithmic());
        assert!(!Scale::over([0.0, 1000.0], 0.0, 1.0).is_logarithmic());
        assert!(!Scale::over([], 0.0, 1.0).is_logarithmic());
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_ticks_are_few(
            values in prop::collection::vec(-1e12_f64..1e12, 0..20),
            max in 2_usize..12,
        ) {
            let scale = Scale::over(values.iter().copied(), 10.0, 110.0);
            for value in &values {
                let at = scale.at(*value);
                prop_assert!((10.0..=110.0).contains(&at), "{value} at {at}");
            }
            let ticks = scale.ticks(max);
            prop_assert!(!ticks.is_empty() && ticks.len() <= max + 3, "{ticks:?}");
            prop_assert!(ticks.windows(2).all(|pair| pair[0] < pair[1]));
        }

        #[test]
        fn order_is_kept(low in 1e-6_f64..1e3, ratio in 1.0_f64..1e6, share in 0.0_f64..1.0) {
            let scale = Scale::over([low, low * ratio], 0.0, 1.0);
            let middle = low + share * (low * ratio - low);
            prop_assert!(scale.at(low) <= scale.at(middle) + 1e-12);
            prop_assert!(scale.at(middle) <= scale.at(low * ratio) + 1e-12);
        }
    }
}
