//! The response of a server to the opening handshake of a WebSocket: headers, the chosen subprotocol and the agreed
//! extensions.

use plimsoll_ws::in_memory::read_handshake;
use plimsoll_ws::{Offer, OfferDeflate};

use super::Target;

pub const TARGET: Target = Target {
    name: "websocket_handshake",
    run,
    seeds: &[
        b"\x00HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n",
        b"\x0fHTTP/1.1 101 S\r\nUpgrade: h2c, WebSocket\r\nConnection: keep-alive, upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\nSec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; server_max_window_bits=10\r\n\r\n",
        b"\x03HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n",
    ],
    words: &[
        "HTTP/1.1 101 ", "\r\n", "Upgrade: ", "Connection: ", "websocket", "upgrade", ", ", "; ",
        "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "Sec-WebSocket-Protocol: ",
        "Sec-WebSocket-Extensions: ", "permessage-deflate", "server_no_context_takeover",
        "client_no_context_takeover", "server_max_window_bits=", "client_max_window_bits=", "chat", "\"15\"",
    ],
};

/// The first byte selects the offer.
fn run(data: &[u8]) {
    let Some((&how, response)) = data.split_first() else {
        return;
    };
    let deflate = (how & 1 != 0).then_some(OfferDeflate {
        server_no_context_takeover: how & 2 != 0,
        client_no_context_takeover: how & 4 != 0,
    });
    let offer = Offer {
        protocols: vec!["chat".to_owned(), "superchat".to_owned()],
        deflate,
        takes_any_protocol: how & 8 != 0,
    };
    if let Ok(agreed) = read_handshake(response, &offer) {
        assert!(
            agreed.protocol.is_empty()
                || offer.takes_any_protocol
                || offer.protocols.contains(&agreed.protocol)
        );
        assert!(agreed.deflate.is_none() || deflate.is_some());
    }
}
