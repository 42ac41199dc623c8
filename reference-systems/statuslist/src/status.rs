//! The position of statuses in the bytes of a list (Token Status List, "Status List": the status
//! with index 0 is in the least significant bits of the first byte).

use serde::{Deserialize, Serialize};

/// The number of bits of a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Width {
    One,
    Two,
    Four,
    Eight,
}

impl Width {
    pub fn bits(self) -> u8 {
        match self {
            Width::One => 1,
            Width::Two => 2,
            Width::Four => 4,
            Width::Eight => 8,
        }
    }

    /// The largest status.
    pub fn largest(self) -> u8 {
        u8::MAX >> (8 - self.bits())
    }

    /// Bytes for this number of statuses.
    pub fn bytes_for(self, size: u32) -> usize {
        (size as usize).div_ceil(usize::from(8 / self.bits()))
    }

    /// The position of a status.
    pub fn place(self, index: u32) -> Place {
        let per_byte = u32::from(8 / self.bits());
        // Less than 8, so the conversion is lossless.
        let shift = (index % per_byte) as u8 * self.bits();
        Place {
            byte: index / per_byte,
            shift,
            mask: self.largest() << shift,
        }
    }
}

impl TryFrom<u8> for Width {
    type Error = String;

    fn try_from(bits: u8) -> Result<Self, String> {
        match bits {
            1 => Ok(Width::One),
            2 => Ok(Width::Two),
            4 => Ok(Width::Four),
            8 => Ok(Width::Eight),
            _ => Err(format!("a status has 1, 2, 4 or 8 bits, not {bits}")),
        }
    }
}

impl From<Width> for u8 {
    fn from(width: Width) -> u8 {
        width.bits()
    }
}

/// The position of a status: its byte, and the bits in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub byte: u32,
    /// The distance of the status from the least significant bit.
    pub shift: u8,
    /// Its bits.
    pub mask: u8,
}

impl Place {
    /// The byte `before` with the status set to `value`.
    pub fn set(self, before: u8, value: u8) -> u8 {
        before & !self.mask | value << self.shift & self.mask
    }

    /// The bits of `value` at their position.
    pub fn raised(self, value: u8) -> u8 {
        value << self.shift & self.mask
    }

    /// The first bit of the status if bits are counted from the most significant one of each byte, as
    /// in Redis.
    pub fn bits_from_left(self, width: Width) -> u64 {
        u64::from(self.byte) * 8 + u64::from(8 - width.bits() - self.shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example with 2 bits of the Token Status List specification.
    #[test]
    fn statuses_are_packed_as_specified() {
        let statuses = [1, 2, 0, 3, 0, 1, 0, 1, 1, 2, 3, 3];
        let mut bytes = vec![0; Width::Two.bytes_for(12)];
        for (index, status) in (0..).zip(statuses) {
            let place = Width::Two.place(index);
            let byte = &mut bytes[place.byte as usize];
            *byte = place.set(*byte, status);
        }
        assert_eq!(bytes, [0xC9, 0x44, 0xF9]);
    }

    #[test]
    fn setting_touches_no_neighbor() {
        for width in [Width::One, Width::Two, Width::Four, Width::Eight] {
            for index in 0..16 {
                let place = width.place(index);
                assert_eq!(place.set(0xFF, 0) & place.mask, 0);
                assert_eq!(place.set(0xFF, 0) | place.mask, 0xFF);
                assert_eq!(place.set(0, width.largest()), place.mask);
                assert_eq!(place.raised(width.largest()), place.mask);
            }
        }
    }

    #[test]
    fn bits_are_also_counted_from_the_left() {
        assert_eq!(Width::One.place(0).bits_from_left(Width::One), 7);
        assert_eq!(Width::One.place(8).bits_from_left(Width::One), 15);
        assert_eq!(Width::Four.place(1).bits_from_left(Width::Four), 0);
        assert_eq!(Width::Eight.place(2).bits_from_left(Width::Eight), 16);
    }

    #[test]
    fn a_list_contains_all_its_statuses() {
        assert_eq!(Width::One.bytes_for(50_000), 6_250);
        assert_eq!(Width::One.bytes_for(1), 1);
        assert_eq!(Width::Four.bytes_for(3), 2);
    }
}
