//! The sequence of `randomSeed(n)`, which is that of Go's `math/rand` with the same seed.
//!
//! The generator is the additive lagged Fibonacci generator of D. P. Mitchell and J. A. Reeds, sₙ = sₙ₋₆₀₇ + sₙ₋₂₇₃ mod
//! 2⁶⁴. A seed fills the 607 words from a linear congruential generator, and combines each (by XOR) with a word of a
//! fixed well-mixed state: the state that seed 1 reaches after 7.8·10¹² steps. Instead of storing that state as a
//! table, we compute it: the recurrence is linear, so n steps are one multiplication by xⁿ modulo x⁶⁰⁷ − x³³⁴ − 1. That
//! power takes 43 squarings, about ten milliseconds, once per process that uses a seed.

use std::sync::OnceLock;

const LENGTH: usize = 607;
const TAP: usize = 273;
/// The index of the oldest word in the state's array. Going backwards from it and wrapping around, the words become
/// younger.
const OLDEST: usize = LENGTH - TAP - 1;
/// The number of steps between the fixed state and its start.
const MIXING_STEPS: u64 = 7_800_000_000_000;

type State = [u64; LENGTH];

/// A seeded generator.
#[derive(Debug, Clone)]
pub struct GoRand {
    state: Box<State>,
    /// The index for the next word, which is the index of the oldest word.
    feed: usize,
}

impl GoRand {
    /// The same generator as Go's `rand.NewSource(seed)`.
    pub fn new(seed: i64) -> GoRand {
        let mut state = Box::new([0; LENGTH]);
        let mixed = mixed_state();
        fill(&mut state, seed, [40, 20]);
        for (word, mix) in state.iter_mut().zip(mixed) {
            *word ^= mix;
        }
        GoRand {
            state,
            feed: OLDEST,
        }
    }

    fn next_word(&mut self) -> u64 {
        // The distance between tap and feed never changes.
        let tap = (self.feed + TAP) % LENGTH;
        let word = self.state[self.feed].wrapping_add(self.state[tap]);
        self.state[self.feed] = word;
        self.feed = (self.feed + LENGTH - 1) % LENGTH;
        word
    }

    /// A number from 0 up to but not including 1, as `Math.random()` returns it.
    pub fn next_f64(&mut self) -> f64 {
        const RANGE: f64 = (1_u64 << 63) as f64;
        loop {
            let number = (self.next_word() & (u64::MAX >> 1)) as f64 / RANGE;
            // The highest words round up to 1, which must not be returned.
            if number < 1.0 {
                return number;
            }
        }
    }
}

/// Fills the state from the seed with x ← 48271·x mod (2³¹ − 1). Each word uses three values; the first
/// two are shifted left.
fn fill(state: &mut State, seed: i64, shifts: [u32; 2]) {
    const MODULUS: i64 = (1 << 31) - 1;
    let mut x = match seed.rem_euclid(MODULUS) {
        // Zero would stay zero forever.
        0 => 89_482_311,
        seed => seed,
    };
    let mut draw = || {
        x = x * 48_271 % MODULUS;
        x as u64
    };
    for _ in 0..20 {
        draw();
    }
    for word in state {
        *word = draw() << shifts[0] ^ draw() << shifts[1] ^ draw();
    }
}

fn mixed_state() -> &'static State {
    static MIXED: OnceLock<Box<State>> = OnceLock::new();
    MIXED.get_or_init(|| {
        let mut start = Box::new([0; LENGTH]);
        fill(&mut start, 1, [20, 10]);
        ahead(&start, MIXING_STEPS)
    })
}

/// The array index of the word sₙ, where s₀ is the oldest word of the initial state.
fn place(n: u64) -> usize {
    (OLDEST + LENGTH - (n % LENGTH as u64) as usize) % LENGTH
}

/// The state `steps` steps after `start`.
fn ahead(start: &State, steps: u64) -> Box<State> {
    // Computes xⁿ by squaring, from the highest bit of n down.
    let mut power = Box::new([0; LENGTH]);
    power[0] = 1;
    for bit in (0..u64::BITS - steps.leading_zeros()).rev() {
        power = square(&power);
        if steps >> bit & 1 == 1 {
            times_x(&mut power);
        }
    }
    let mut state = Box::new([0_u64; LENGTH]);
    for n in steps..steps + LENGTH as u64 {
        let words = (0..).map(|i| start[place(i)]);
        let terms = power
            .iter()
            .zip(words)
            .map(|(factor, word)| factor.wrapping_mul(word));
        state[place(n)] = terms.fold(0, u64::wrapping_add);
        times_x(&mut power);
    }
    state
}

/// Multiplies by x and replaces x⁶⁰⁷ with x³³⁴ + 1.
fn times_x(polynomial: &mut State) {
    polynomial.rotate_right(1);
    polynomial[LENGTH - TAP] = polynomial[LENGTH - TAP].wrapping_add(polynomial[0]);
}

fn square(polynomial: &State) -> Box<State> {
    let mut product = vec![0_u64; 2 * LENGTH];
    for (i, a) in polynomial.iter().enumerate() {
        for (b, sum) in polynomial.iter().zip(&mut product[i..]) {
            *sum = sum.wrapping_add(a.wrapping_mul(*b));
        }
    }
    for high in (LENGTH..2 * LENGTH).rev() {
        let factor = product[high];
        for low in [high - LENGTH, high - TAP] {
            product[low] = product[low].wrapping_add(factor);
        }
    }
    let mut reduced = Box::new([0; LENGTH]);
    reduced.copy_from_slice(&product[..LENGTH]);
    reduced
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds and their first three numbers, as recorded with k6 v1.8.1.
    const OBSERVED: &[(i64, [f64; 3])] = &[
        (
            0,
            [0.9451961492941164, 0.24496508529377975, 0.6559562651954052],
        ),
        (
            1,
            [0.6046602879796196, 0.9405090880450124, 0.6645600532184904],
        ),
        (
            123,
            [0.5813171323049762, 0.026224297271376255, 0.2499694950699479],
        ),
        (
            -5,
            [
                0.1964231528691937,
                0.48006842453323395,
                0.020401048456542642,
            ],
        ),
        (
            2_147_483_647,
            [0.9451961492941164, 0.24496508529377975, 0.6559562651954052],
        ),
        (
            2_147_483_646,
            [0.3951876009960174, 0.05964969860952545, 0.33545830491955936],
        ),
        (
            4_294_967_296,
            [0.16729663442585624, 0.2650543054337802, 0.05148802530284411],
        ),
        (
            9_007_199_254_740_991,
            [
                0.25912757246568385,
                0.35727962080843245,
                0.07712633630279923,
            ],
        ),
    ];

    #[test]
    fn sequences_match_those_of_k6() {
        for (seed, expected) in OBSERVED {
            let mut generator = GoRand::new(*seed);
            let found = std::array::from_fn(|_| generator.next_f64());
            assert_eq!(found, *expected, "seed {seed}");
        }
        let mut generator = GoRand::new(42);
        let last = (0..10_000).map(|_| generator.next_f64()).last();
        assert_eq!(last, Some(0.8516938178752271));
    }

    #[test]
    fn a_jump_equals_the_same_number_of_steps() {
        let mut start = Box::new([0; LENGTH]);
        fill(&mut start, 7, [20, 10]);
        for steps in [0, 1, 606, 607, 5_000] {
            let mut walked = GoRand {
                state: start.clone(),
                feed: OLDEST,
            };
            for _ in 0..steps {
                walked.next_word();
            }
            assert_eq!(ahead(&start, steps), walked.state, "{steps} steps");
        }
    }
}
