//! Calculates what a network path of known delay, rate, jitter and loss adds to an exchange.
//!
//! A line of limited rate is a queue with one server, first in, first out: a message leaves once
//! the line has sent everything that entered before it, and then the message itself (Lindley's
//! recursion, "The theory of queues with a single server", 1952).

/// When each message has left the line: `entered` in nanoseconds, each of `bits`, at
/// `bits_per_second` (0: unlimited). In the order of `entered`, which need not be sorted.
pub fn departures(entered: &[u64], bits: u64, bits_per_second: u64) -> Vec<u64> {
    let on_the_line = match bits_per_second {
        0 => 0,
        rate => (u128::from(bits) * 1_000_000_000 / u128::from(rate)) as u64,
    };
    let mut order: Vec<usize> = (0..entered.len()).collect();
    order.sort_by_key(|&index| entered[index]);
    let mut left = vec![0; entered.len()];
    let mut free = 0;
    for index in order {
        free = entered[index].max(free) + on_the_line;
        left[index] = free;
    }
    left
}

/// The quantile `q` of the sum of two independent delays, each uniform between −`half` and +`half`
/// (the triangular distribution), in nanoseconds.
pub fn jitter_quantile(half: f64, q: f64) -> f64 {
    let both = 2.0 * half;
    if q < 0.5 {
        both * ((2.0 * q).sqrt() - 1.0)
    } else {
        both * (1.0 - (2.0 * (1.0 - q)).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_wait_for_those_that_entered_before_them() {
        // 1,000 bits at 1 Mbit/s take 1 ms.
        let entered = [5_000_000, 0, 200_000];
        assert_eq!(
            departures(&entered, 1_000, 1_000_000),
            [6_000_000, 1_000_000, 2_000_000]
        );
        assert_eq!(departures(&entered, 1_000, 0), entered);
    }

    #[test]
    fn the_quantiles_are_those_of_a_triangle() {
        assert_eq!(jitter_quantile(1.0, 0.5), 0.0);
        assert_eq!(jitter_quantile(1.0, 0.0), -2.0);
        assert_eq!(jitter_quantile(1.0, 1.0), 2.0);
        // An eighth of the sums exceed half of the largest.
        assert!((jitter_quantile(1.0, 0.875) - 1.0).abs() < 1e-12);
        assert!((jitter_quantile(1.0, 0.125) + 1.0).abs() < 1e-12);
    }
}
