//! The header of datagrams, and the loss and jitter that are computed from it.
//!
//! A header contains the sender's time (seconds, microseconds) and the datagram's number, counted
//! from 1. All fields are big-endian. The number has 32 bits, or 64 if the peers agree.

use std::time::Duration;

/// Writes the header to the start of `block`, which must be long enough.
pub fn stamp(block: &mut [u8], sent: Duration, number: u64, wide: bool) {
    let mut header = [0; 16];
    header[..4].copy_from_slice(&(sent.as_secs() as u32).to_be_bytes());
    header[4..8].copy_from_slice(&sent.subsec_micros().to_be_bytes());
    let length = if wide {
        header[8..].copy_from_slice(&number.to_be_bytes());
        16
    } else {
        header[8..12].copy_from_slice(&(number as u32).to_be_bytes());
        12
    };
    if let Some(target) = block.get_mut(..length) {
        target.copy_from_slice(&header[..length]);
    }
}

/// Reads a header: the send time on the sender's clock, and the number. `None` if the datagram is
/// too short.
pub fn read(datagram: &[u8], wide: bool) -> Option<(Duration, u64)> {
    let word = |at: usize| {
        let bytes = datagram.get(at..at + 4)?;
        Some(u64::from(u32::from_be_bytes(bytes.try_into().ok()?)))
    };
    let sent = Duration::from_secs(word(0)?) + Duration::from_micros(word(4)?);
    let number = if wide {
        word(8)? << 32 | word(12)?
    } else {
        word(8)?
    };
    Some((sent, number))
}

/// Loss and jitter of a stream's datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arrivals {
    /// The highest number so far. This is the number of datagrams known to have been sent.
    pub packets: u64,
    pub lost: u64,
    pub out_of_order: u64,
    /// Jitter in seconds.
    pub jitter: f64,
    transit: Option<f64>,
}

impl Arrivals {
    /// Records a datagram that was sent and received at these times, each on its own side's clock.
    pub fn arrived(&mut self, sent: Duration, arrived: Duration, number: u64) {
        if number > self.packets {
            self.lost = self.lost.saturating_add(number - self.packets - 1);
            self.packets = number;
        } else {
            // The datagram was counted as lost when a later one arrived.
            self.out_of_order += 1;
            self.lost = self.lost.saturating_sub(1);
        }
        // RFC 3550 §6.4.1: J := J + (|D| − J) ÷ 16, where D is the difference of the transit times. The
        // offset between the clocks cancels out.
        let transit = arrived.as_secs_f64() - sent.as_secs_f64();
        if let Some(last) = self.transit {
            self.jitter += ((transit - last).abs() - self.jitter) / 16.0;
        }
        self.transit = Some(transit);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives_a_round_trip() {
        let sent = Duration::new(23_098, 318_758_000);
        for (wide, number) in [(false, 7), (true, 1 << 40)] {
            let mut block = [0xff; 20];
            stamp(&mut block, sent, number, wide);
            assert_eq!(read(&block, wide), Some((sent, number)));
            assert_eq!(block[19], 0xff);
        }
        assert_eq!(read(&[0; 11], false), None);
        assert_eq!(read(&[0; 15], true), None);
        stamp(&mut [0; 3], sent, 1, true);
    }

    #[test]
    fn gaps_count_as_lost_until_late_datagrams_arrive() {
        let mut arrivals = Arrivals::default();
        for number in [1, 2, 5, 4, 6] {
            arrivals.arrived(Duration::ZERO, Duration::ZERO, number);
        }
        assert_eq!(
            (arrivals.packets, arrivals.lost, arrivals.out_of_order),
            (6, 1, 1)
        );
        arrivals.arrived(Duration::ZERO, Duration::ZERO, u64::MAX);
        arrivals.arrived(Duration::ZERO, Duration::ZERO, 0);
        assert_eq!(arrivals.packets, u64::MAX);
    }

    #[test]
    fn jitter_is_a_sixteenth_of_the_change() {
        let mut arrivals = Arrivals::default();
        let ms = Duration::from_millis;
        arrivals.arrived(ms(0), ms(10), 1);
        assert_eq!(arrivals.jitter, 0.0);
        arrivals.arrived(ms(100), ms(126), 2);
        assert!(
            (arrivals.jitter - 0.001).abs() < 1e-9,
            "{}",
            arrivals.jitter
        );
    }
}
