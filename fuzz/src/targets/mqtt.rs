//! Packets of MQTT brokers.

use plimsoll_k6::pure::mqtt::{Decoder, Packet, publish};

use super::Target;

pub const TARGET: Target = Target {
    name: "mqtt",
    run,
    seeds: &[
        b"\x20\x02\0\0\x30\x05\0\x01ahi",
        b"\x34\x07\0\x01a\0\x09hi\x62\x02\0\x09\x90\x04\0\x07\x01\x80\xd0\0",
    ],
    words: &["\0\x01a", "\x02\0\x09"],
};

/// The result does not depend on the pieces in which packets arrive, and messages can be written again.
fn run(data: &[u8]) {
    let all = |pieces: &[&[u8]]| {
        let (mut decoder, mut found) = (Decoder::default(), Vec::new());
        let read = pieces
            .iter()
            .try_for_each(|piece| decoder.read(piece, &mut |packet| found.push(packet)));
        (found, read.is_ok())
    };
    let whole = all(&[data]);
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(all(&bytes), whole);
    for packet in &whole.0 {
        let Packet::Publish(message) = packet else {
            continue;
        };
        let wire = publish(message).expect("a packet that was read is not too long");
        assert_eq!(all(&[&wire[..]]), (vec![packet.clone()], true));
    }
}
