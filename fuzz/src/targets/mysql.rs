//! Packets of MySQL servers: greetings, outcomes, and rows.

use plimsoll_sql::mysql::{binary_row, packets, text_row};

use super::Target;

pub const TARGET: Target = Target {
    name: "mysql",
    run,
    seeds: &[
        b"\x0a8.0\0\x01\0\0\0abcdefgh\0\xff\xf7\x2d\x02\0\xff\xdf\x15\0\0\0\0\0\0\0\0\0\0ijklmnopqrst\0\
          caching_sha2_password\0",
        b"\x03def\x01a\x01b\x01b\x02id\x02id\x0c\x3f\0\x0b\0\0\0\x03\x23\x42\0\0\0",
        b"\0\x01\x07\x08\0\0\0",
        b"\xfe\0\0\x02\0",
        b"\xff\x7a\x04#42S02none",
        b"\xfemysql_native_password\0abcdefghijklmnopqrst\0",
        b"\0\x01\0\0\0\x02\0\x01\0\0\0\0",
        b"\x0b\0\0\x07\xe7\x07\x0b\x0e\x16\x0d\x14",
    ],
    words: &["#", "\0", "\u{b}", "1", "-", ":"],
};

/// The first byte selects the type of the columns, and the rest is a packet of any kind.
fn run(data: &[u8]) {
    if let Some(greeting) = packets::greeting(data) {
        assert_eq!(greeting.nonce.len(), packets::NONCE);
    }
    if let Some((_, nonce)) = packets::other_plugin(data) {
        assert!(nonce.len() <= packets::NONCE);
    }
    let _ = (
        packets::done(data),
        packets::end(data),
        packets::prepared(data),
    );
    assert!(packets::failure(data).starts_with("Error "));
    let mut columns = Vec::new();
    columns.extend(packets::column(data));
    let Some((kind, packet)) = data.split_first() else {
        return;
    };
    for decimals in [0, 3, 255] {
        columns.push(packets::Column {
            name: String::new(),
            kind: kind & 0xDF,
            is_unsigned: kind & 0x20 != 0,
            decimals,
        });
    }
    for parses_time in [false, true] {
        for row in [
            text_row(&columns, packet, parses_time),
            binary_row(&columns, packet, parses_time),
        ] {
            assert!(row.is_none_or(|row| row.len() == columns.len()));
        }
    }
}
