//! Two requests to a scripted server.

use plimsoll_http2::StreamFault;

use super::*;

/// The results of two requests, on streams 1 and 3. The server sends `bytes` after its SETTINGS,
/// and then a response on stream 3. Also returns the frames that the client sent afterwards.
pub fn outcome(bytes: &[u8]) -> ([Result<Response, StreamFault>; 2], Vec<Frame>) {
    run(async {
        let (streams, mut peer) = connect();
        let (outgoing, mut one) = streams.open(&head("GET"), true).await.unwrap();
        let (_, mut other) = streams.open(&head("GET"), true).await.unwrap();
        peer.preface().await;
        peer.send(&frame(SETTINGS, 0, 0, &[])).await;
        peer.send(bytes).await;
        peer.send(&response(3)).await;
        let read = [read(&mut one).await, read(&mut other).await];
        drop((outgoing, one, other, streams));
        (read, peer.rest().await)
    })
}

pub fn whole(body: &[u8], trailers: usize) -> Result<Response, StreamFault> {
    Ok(Response {
        status: 200,
        body: body.to_vec(),
        trailers,
    })
}

/// The start of a response on stream 1.
pub fn response_start() -> Vec<u8> {
    frame(HEADERS, END_HEADERS, 1, STATUS_200)
}

/// A response on stream 1 with this header block.
pub fn with_block(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

pub fn with_fields(fields: &[(&str, &str)]) -> Vec<u8> {
    with_block(&block(fields))
}
