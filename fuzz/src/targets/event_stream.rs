//! Streams of server-sent events, as scripts read them.

use plimsoll_k6::pure::event_stream::{Event, Events};

use super::Target;

pub const TARGET: Target = Target {
    name: "event_stream",
    run,
    seeds: &[
        b"data: a\n\n",
        b"\xef\xbb\xbf: c\r\nid: 1\revent: x\ndata: y\ndata\n\nretry: 5\n\n",
    ],
    words: &[
        "data: ", "event:", "id: ", "retry:", ": ", "\n\n", "\r\n\r\n", "\u{feff}",
    ],
};

/// The result does not depend on the pieces in which a stream arrives.
fn run(data: &[u8]) {
    let all = |pieces: &[&[u8]]| -> Vec<Event> {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in pieces {
            if events.read(piece, &mut |event| found.push(event)).is_err() {
                break;
            }
        }
        found
    };
    let whole = all(&[data]);
    let bytes: Vec<&[u8]> = data.chunks(1).collect();
    assert_eq!(all(&bytes), whole);
    assert!(whole.iter().all(|event| !event.name.contains('\n')));
}
