//! Makes new inputs of known ones.

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): the same seed gives the same
/// inputs, so that a crash can be found again.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound.max(1) as u64) as usize
    }

    fn pick<'a, T: ?Sized>(&mut self, of: &[&'a T]) -> Option<&'a T> {
        of.get(self.below(of.len())).copied()
    }
}

/// Inputs are cut to this length: long enough for every limit of a parser that
/// counts, short enough for thousands a second.
pub const LONGEST: usize = 1 << 14;

/// Bytes at which parsers turn.
const TURNS: &[u8] = b"\0\t\n\r \"#%&'()*+,-./0123456789:;<=>?@AZ[\\]^_`az{|}~\x7f\x80\xc0\xe2\xff";

/// Numbers at which parsers overflow.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e309",
    "-0",
    "0.1",
    "NaN",
    "1e-400",
    "99999999999999999999999999999999999999999999",
];

/// A new input: a seed with a few changes, or two seeds crossed, or `words` in a row.
pub fn input(random: &mut Random, seeds: &[&[u8]], words: &[&str]) -> Vec<u8> {
    let mut data = match random.below(20) {
        0 => (0..random.below(12))
            .filter_map(|_| random.pick(words))
            .collect::<String>()
            .into_bytes(),
        1 => (0..random.below(64))
            .map(|_| random.below(256) as u8)
            .collect(),
        _ => random.pick(seeds).unwrap_or_default().to_vec(),
    };
    // Mostly few changes, so that the input stays near to what is meant.
    for _ in 0..=random.below(4) * random.below(4) {
        change(random, &mut data, seeds, words);
    }
    data.truncate(LONGEST);
    data
}

fn change(random: &mut Random, data: &mut Vec<u8>, seeds: &[&[u8]], words: &[&str]) {
    let at = random.below(data.len() + 1);
    let end = (at + 1 + random.below(16)).min(data.len());
    let start = at.min(end);
    match random.below(11) {
        0 if start < end => data[start] ^= 1 << random.below(8),
        1 if start < end => data[start] = random.below(256) as u8,
        2 => data.insert(at, TURNS[random.below(TURNS.len())]),
        3 if start < end => data[start] = TURNS[random.below(TURNS.len())],
        4 => drop(data.drain(start..end)),
        5 => insert(data, at, random.pick(words).unwrap_or_default().as_bytes()),
        6 => replace_number(random, data, at),
        // A part again, and sometimes so often that whatever recurses or grows shows it.
        7 => {
            let part = data[start..end].to_vec();
            let times = if random.below(8) == 0 {
                1 + random.below(600)
            } else {
                1 + random.below(3)
            };
            insert(data, at, &part.repeat(times));
        }
        8 => data.truncate(at),
        9 => {
            let other = random.pick(seeds).unwrap_or_default();
            let from = random.below(other.len() + 1);
            data.truncate(at);
            data.extend_from_slice(&other[from..]);
        }
        _ => {
            let word = random.pick(words).unwrap_or_default().as_bytes();
            data.splice(start..end, word.iter().copied());
        }
    }
}

fn insert(data: &mut Vec<u8>, at: usize, part: &[u8]) {
    data.splice(at..at, part.iter().copied());
}

/// Puts a telling number in place of the first one from `at` on, or at `at`.
fn replace_number(random: &mut Random, data: &mut Vec<u8>, at: usize) {
    let number = random.pick(NUMBERS).unwrap_or_default().bytes();
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let start = data[at..]
        .iter()
        .position(is_digit)
        .map_or(at, |offset| at + offset);
    let length = data[start..]
        .iter()
        .take_while(|byte| is_digit(byte))
        .count();
    data.splice(start..start + length, number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_gives_the_same_inputs() {
        let inputs = |seed| {
            let mut random = Random::new(seed);
            (0..100)
                .map(|_| input(&mut random, &[b"1m30s"], &["ms"]))
                .collect::<Vec<_>>()
        };
        assert_eq!(inputs(1), inputs(1));
        assert_ne!(inputs(1), inputs(2));
    }

    #[test]
    fn inputs_are_bounded_and_differ() {
        let mut random = Random::new(7);
        let inputs: std::collections::HashSet<Vec<u8>> = (0..2000)
            .map(|_| input(&mut random, &[b"a=1; path=/", b"b"], &["; ", "Secure"]))
            .collect();
        assert!(inputs.len() > 1000);
        assert!(inputs.iter().all(|input| input.len() <= LONGEST));
    }

    #[test]
    fn numbers_are_replaced_whole() {
        let mut data = b"a 123 b".to_vec();
        replace_number(&mut Random::new(1), &mut data, 0);
        let text = String::from_utf8(data).unwrap();
        let number = text
            .strip_prefix("a ")
            .and_then(|text| text.strip_suffix(" b"))
            .unwrap();
        assert!(NUMBERS.contains(&number), "{text}");
    }
}
