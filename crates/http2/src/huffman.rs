//! The Huffman code for field values (RFC 7541, appendix B). QPACK uses the same code (RFC 9204,
//! section 4.1.2). The code is canonical, so the code lengths define it completely.

use std::sync::OnceLock;

/// Code length of each byte in bits. The last entry is the end-of-string symbol.
#[rustfmt::skip]
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28,
    28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
    6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6,
    5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
    13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7,
    7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
    15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5,
    6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
    20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23,
    24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
    22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23,
    21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
    26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25,
    19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
    20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23,
    26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
    30,
];
/// The end-of-string symbol, which may not be sent (RFC 7541, section 5.2).
const END_OF_STRING: u16 = 256;

/// A transition: the effect of four input bits at a node of the code's tree.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    next: u8,
    /// The byte whose code these bits complete. There is at most one, because codes have at least five
    /// bits.
    symbol: Option<u8>,
    is_invalid: bool,
}

/// The tree of the code, which is traversed four bits at a time.
struct Machine {
    steps: [[Step; 16]; 256],
    /// Nodes at which a string may end: those reached by at most seven one bits, which are the start of
    /// the end-of-string code.
    may_end: [bool; 256],
}

#[derive(Clone, Copy)]
enum Node {
    Missing,
    Inner(u8),
    Leaf(u16),
}

/// A node of the tree. A code of 257 symbols has 256 inner nodes.
fn tree() -> Vec<[Node; 2]> {
    let mut symbols: Vec<u16> = (0..=END_OF_STRING).collect();
    let length = |symbol: u16| u32::from(LENGTHS[usize::from(symbol)]);
    symbols.sort_by_key(|symbol| (length(*symbol), *symbol));
    let mut nodes = vec![[Node::Missing; 2]];
    let (mut code, mut bits) = (0u32, 0);
    for symbol in symbols {
        code <<= length(symbol) - bits;
        bits = length(symbol);
        let mut at = 0;
        for shift in (1..bits).rev() {
            let branch = (code >> shift & 1) as usize;
            at = match nodes[at][branch] {
                Node::Inner(next) => usize::from(next),
                _ => {
                    let next = nodes.len();
                    nodes.push([Node::Missing; 2]);
                    nodes[at][branch] = Node::Inner(next as u8);
                    next
                }
            };
        }
        nodes[at][(code & 1) as usize] = Node::Leaf(symbol);
        code += 1;
    }
    nodes
}

fn machine() -> &'static Machine {
    static MACHINE: OnceLock<Box<Machine>> = OnceLock::new();
    MACHINE.get_or_init(|| {
        let nodes = tree();
        let mut machine = Box::new(Machine {
            steps: [[Step::default(); 16]; 256],
            may_end: [false; 256],
        });
        for (start, steps) in machine.steps.iter_mut().enumerate() {
            for (bits, step) in steps.iter_mut().enumerate() {
                let mut at = start;
                for shift in (0..4).rev() {
                    at = match nodes[at][bits >> shift & 1] {
                        Node::Inner(next) => usize::from(next),
                        Node::Leaf(symbol) => {
                            step.symbol = u8::try_from(symbol).ok();
                            step.is_invalid |= symbol == END_OF_STRING;
                            0
                        }
                        Node::Missing => {
                            step.is_invalid = true;
                            0
                        }
                    };
                }
                step.next = at as u8;
            }
        }
        let mut at = 0;
        for _ in 0..8 {
            machine.may_end[at] = true;
            if let Node::Inner(next) = nodes[at][1] {
                at = usize::from(next);
            }
        }
        machine
    })
}

/// Decodes a string of at most `limit` bytes. `None` if it is invalid or longer.
pub fn decode(input: &[u8], limit: usize) -> Option<Vec<u8>> {
    let machine = machine();
    let mut out = Vec::with_capacity((input.len() * 8 / 5).min(limit));
    let mut at = 0u8;
    for byte in input {
        for bits in [byte >> 4, byte & 0xf] {
            let step = machine.steps[usize::from(at)][usize::from(bits)];
            if step.is_invalid {
                return None;
            }
            if let Some(symbol) = step.symbol {
                if out.len() == limit {
                    return None;
                }
                out.push(symbol);
            }
            at = step.next;
        }
    }
    machine.may_end[usize::from(at)].then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(text: &str) -> Vec<u8> {
        (0..text.len())
            .step_by(2)
            .map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap())
            .collect()
    }

    /// The examples of RFC 7541, appendix C.4 and C.6.
    #[test]
    fn the_rfcs_examples_decode() {
        for (encoded, text) in [
            ("f1e3c2e5f23a6ba0ab90f4ff", "www.example.com"),
            ("a8eb10649cbf", "no-cache"),
            ("25a849e95ba97d7f", "custom-key"),
            ("25a849e95bb8e8b4bf", "custom-value"),
            ("6402", "302"),
            (
                "d07abe941054d444a8200595040b8166e082a62d1bff",
                "Mon, 21 Oct 2013 20:13:21 GMT",
            ),
        ] {
            assert_eq!(decode(&hex(encoded), 1000).unwrap(), text.as_bytes());
        }
    }

    #[test]
    fn invalid_padding_and_long_strings_are_rejected() {
        assert_eq!(decode(&hex("6402"), 2), None, "longer than the limit");
        assert_eq!(decode(&hex("6402ff"), 9), None, "a whole byte of padding");
        assert_eq!(decode(&hex("00"), 9), None, "padding of zeros");
        assert_eq!(decode(&hex("fffffffc"), 9), None, "the end of a string");
        assert_eq!(decode(&[], 0).unwrap(), b"");
    }
}
