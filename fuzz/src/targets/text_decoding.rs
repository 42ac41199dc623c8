//! Bytes that scripts decode with `TextDecoder`, whole and in pieces.

use plimsoll_k6::pure::text_decoding::{Decoder, Encoding};

use super::Target;

pub const TARGET: Target = Target {
    name: "text_decoding",
    run,
    seeds: &[
        b"\x00h\xc3\xa9llo \xe2\x82\xac \xf0\x9f\x98\x80",
        b"\x01\xef\xbb\xbf\xed\xa0\x80\xf4\x90\x80\x80\xc0\xaf",
        b"\x02\xff\xfeh\0i\0\x3d\xd8\x00\xde",
        b"\x13\xfe\xff\0h\0i\xd8\x3d\xde\x00",
    ],
    words: &["\u{feff}", "\u{80}", "\u{7ff}", "\u{ffff}", "\u{10ffff}"],
};

const LABELS: [&str; 4] = ["utf-8", "utf-16le", "utf-16be", "utf8"];

/// The first byte chooses the encoding, the flags and the size of the pieces.
fn run(data: &[u8]) {
    let Some((&how, bytes)) = data.split_first() else {
        return;
    };
    let label = LABELS[usize::from(how & 3)];
    let Some(encoding) = Encoding::labeled(label) else {
        return;
    };
    let decoder = || Decoder::new(encoding, how & 4 != 0, how & 8 != 0);
    let whole = decoder().decode(bytes, false);
    let mut in_pieces = decoder();
    let mut joined = Some(String::new());
    for piece in bytes.chunks(1 + usize::from(how >> 4)) {
        match (&mut joined, in_pieces.decode(piece, true)) {
            (Some(joined), Ok(text)) => joined.push_str(&text),
            _ => {
                joined = None;
                break;
            }
        }
    }
    if let Some(text) = &mut joined {
        match in_pieces.decode(&[], false) {
            Ok(rest) => text.push_str(&rest),
            Err(_) => joined = None,
        }
    }
    assert_eq!(
        whole.ok(),
        joined,
        "the result does not depend on the pieces"
    );
}
