//! Encodes the estimate of the number of series. Writes only registers that are not zero.

use super::{REGISTERS, SeriesSketch};
use crate::wire::{Reader, WireError, Writer};

/// The highest rank: one more than the number of leading zeros that the rest of a hash can have.
const RANK_LIMIT: u8 = 64;

impl SeriesSketch {
    pub(crate) fn encode(&self, out: &mut Writer) {
        let used = self.registers.iter().filter(|rank| **rank > 0).count();
        out.number(used as u64);
        let mut next = 0;
        for (place, &rank) in self.registers.iter().enumerate() {
            if rank > 0 {
                out.number((place - next) as u64);
                out.byte(rank);
                next = place + 1;
            }
        }
    }

    pub(crate) fn decode(input: &mut Reader<'_>) -> Result<SeriesSketch, WireError> {
        let mut sketch = SeriesSketch::default();
        let mut next = 0_usize;
        for _ in 0..input.count(2)? {
            let place = next.saturating_add(input.small()? as usize);
            let rank = input.byte()?;
            if place >= REGISTERS || rank == 0 || rank > RANK_LIMIT {
                return Err(WireError::Invalid("estimate of series"));
            }
            sketch.registers[place] = rank;
            next = place + 1;
        }
        Ok(sketch)
    }
}
