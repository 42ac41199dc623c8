//! Encodes sinks. A histogram is sent as individual values if the receiver needs them, otherwise as buckets.

use plimsoll_stats::{EXACT_BOUND, Histogram, NumberedBuckets};
use plimsoll_units::Moment;

use super::{Gauge, Sink};
use crate::kind::Kind;
use crate::wire::{Reader, WireError, Writer};

/// The memory that further histograms of one message may use.
#[derive(Debug)]
pub(crate) struct Budget(usize);

/// Maximum memory for the histograms of one message, in bytes. A second of 200 names with wide distributions needs a
/// tenth of it.
const HISTOGRAM_BYTES: usize = 64 << 20;

impl Default for Budget {
    fn default() -> Budget {
        Budget(HISTOGRAM_BYTES)
    }
}

impl Budget {
    fn spend(&mut self, bytes: usize) -> Result<(), WireError> {
        self.0 = self
            .0
            .checked_sub(bytes)
            .ok_or(WireError::TooMany("histogram buckets"))?;
        Ok(())
    }
}

impl Sink {
    /// Encodes a sink whose kind the reader knows. Moments are relative to `origin`. `so_far` is the sum of everything
    /// encoded before.
    pub(crate) fn encode(&self, so_far: Option<&Sink>, origin: Moment, out: &mut Writer) {
        match self {
            Sink::Counter { sum, any } => {
                out.float(*sum);
                out.flag(*any);
            }
            Sink::Gauge(gauge) => {
                out.flag(gauge.at.is_some());
                if let Some(at) = gauge.at {
                    out.signed(at.as_nanos().wrapping_sub(origin.as_nanos()) as i64);
                    for value in [gauge.latest, gauge.min, gauge.max] {
                        out.float(value);
                    }
                }
            }
            Sink::Rate { passes, total } => {
                out.number(*passes);
                out.number(*total);
            }
            Sink::Trend(histogram) => {
                let before = match so_far {
                    Some(Sink::Trend(histogram)) => histogram.count(),
                    _ => 0,
                };
                encode_histogram(histogram, before, out);
            }
        }
    }

    pub(crate) fn decode(
        kind: Kind,
        origin: Moment,
        input: &mut Reader<'_>,
        budget: &mut Budget,
    ) -> Result<Sink, WireError> {
        Ok(match kind {
            Kind::Counter => Sink::Counter {
                sum: input.float()?,
                any: input.flag()?,
            },
            Kind::Gauge if input.flag()? => {
                let nanos = origin.as_nanos().saturating_add_signed(input.signed()?);
                Sink::Gauge(Gauge {
                    at: Some(Moment::from_nanos(nanos)),
                    latest: input.float()?,
                    min: input.float()?,
                    max: input.float()?,
                })
            }
            Kind::Gauge => Sink::new(kind),
            Kind::Rate => {
                let (passes, total) = (input.amount()?, input.amount()?);
                if passes > total {
                    return Err(WireError::Invalid("rate"));
                }
                Sink::Rate { passes, total }
            }
            Kind::Trend => Sink::Trend(decode_histogram(input, budget)?),
        })
    }
}

/// Encodes a histogram that will be added to a histogram of `before` values. Its values are sent only if the sum can
/// still be exact. Otherwise the receiver would put them into buckets anyway.
pub(crate) fn encode_histogram(histogram: &Histogram, before: u64, out: &mut Writer) {
    let after = before.saturating_add(histogram.count());
    if let Some(raw) = histogram.raw()
        && (raw.is_empty() || after <= EXACT_BOUND as u64)
    {
        out.byte(0);
        out.number(raw.len() as u64);
        raw.iter().for_each(|value| out.float(*value));
        return;
    }
    out.byte(1);
    for value in [histogram.sum(), histogram.min(), histogram.max()] {
        out.float(value);
    }
    encode_buckets(&histogram.numbered(), out);
}

pub(crate) fn decode_histogram(
    input: &mut Reader<'_>,
    budget: &mut Budget,
) -> Result<Histogram, WireError> {
    const INVALID: WireError = WireError::Invalid("histogram");
    match input.byte()? {
        0 => {
            let count = input.count(8)?;
            if count > EXACT_BOUND {
                return Err(INVALID);
            }
            budget.spend(count * 8)?;
            let mut histogram = Histogram::new();
            for _ in 0..count {
                let value = input.float()?;
                if value.is_nan() {
                    return Err(INVALID);
                }
                histogram.record(value);
            }
            Ok(histogram)
        }
        1 => {
            let [sum, min, max] = [input.float()?, input.float()?, input.float()?];
            let buckets = decode_buckets(input)?;
            budget.spend(buckets.heap_bytes())?;
            Histogram::from_numbered(sum, min, max, &buckets).ok_or(INVALID)
        }
        _ => Err(INVALID),
    }
}

/// Encodes buckets by the distances between their numbers. Most buckets are neighbors, and take two bytes each.
pub(crate) fn encode_buckets(buckets: &NumberedBuckets, out: &mut Writer) {
    out.number(buckets.zeros);
    for side in [&buckets.negative, &buckets.positive] {
        out.number(side.len() as u64);
        let mut next = 0;
        for &(number, count) in side {
            out.number(u64::from(number) - next);
            out.number(count);
            next = u64::from(number) + 1;
        }
    }
}

pub(crate) fn decode_buckets(input: &mut Reader<'_>) -> Result<NumberedBuckets, WireError> {
    let zeros = input.amount()?;
    let mut side = || {
        let count = input.count(2)?;
        let mut side = Vec::with_capacity(count);
        let mut next = 0_u64;
        for _ in 0..count {
            let number = next.checked_add(input.number()?);
            let number = number.and_then(|number| u32::try_from(number).ok());
            let number = number.ok_or(WireError::Invalid("bucket"))?;
            side.push((number, input.amount()?));
            next = u64::from(number) + 1;
        }
        Ok(side)
    };
    Ok(NumberedBuckets {
        negative: side()?,
        zeros,
        positive: side()?,
    })
}
