//! The cases with compressed messages.

use plimsoll_grpc::{Code, Compression, Reply};

use super::cases::{REQUEST_SIZES, ends_well, opened, send};
use super::peer::{
    Ended, Fault, How, Peer, check_code, check_payload, framed, holds, read, wrong, zeros,
};

/// Headers that announce compressed messages.
fn packing() -> How {
    How {
        compression: Compression::Gzip,
        ..How::default()
    }
}

const UNCHECKED: Fault =
    Fault::Lacking("the server does not check whether messages are compressed as declared");
const UNCOMPRESSED: Fault = Fault::Lacking("the server does not compress messages");

async fn ask(peer: &Peer, packed: Compression, json: &str) -> Result<Reply, Fault> {
    let how = match packed {
        Compression::Identity => How::default(),
        Compression::Gzip => packing(),
    };
    peer.unary(&peer.channel(), "UnaryCall", json, packed, &how)
        .await
}

pub async fn client_unary(peer: &Peer) -> Ended {
    let json = |packed: bool| {
        let body = zeros(271_828);
        format!(
            "{{\"expectCompressed\":{{\"value\":{packed}}},\"responseSize\":314159,\"payload\":{{\"body\":\"{body}\"}}}}"
        )
    };
    // First send a message that claims to be compressed but is not. A server that accepts it does not
    // check this, so the rest of the case would prove nothing.
    let probe = ask(peer, Compression::Identity, &json(true)).await?;
    if probe.status.code.is_ok() {
        return Err(UNCHECKED);
    }
    check_code(&probe.status, Code::INVALID_ARGUMENT)?;
    for (packed, output) in [(Compression::Gzip, true), (Compression::Identity, false)] {
        let reply = ask(peer, packed, &json(output)).await?;
        check_code(&reply.status, Code::OK)?;
        let message = reply.message.unwrap_or_default();
        check_payload(&read(&peer.method("UnaryCall")?, &message)?, 314_159)?;
    }
    Ok(())
}

pub async fn server_unary(peer: &Peer) -> Ended {
    for wanted in [true, false] {
        let body = zeros(271_828);
        let json = format!(
            "{{\"responseCompressed\":{{\"value\":{wanted}}},\"responseSize\":314159,\"payload\":{{\"body\":\"{body}\"}}}}"
        );
        let reply = ask(peer, Compression::Identity, &json).await?;
        check_code(&reply.status, Code::OK)?;
        if wanted && !reply.packed {
            return Err(UNCOMPRESSED);
        }
        holds(reply.packed == wanted, || "it is packed".to_owned())?;
        let message = reply.message.unwrap_or_default();
        check_payload(&read(&peer.method("UnaryCall")?, &message)?, 314_159)?;
    }
    Ok(())
}

pub async fn client_streaming(peer: &Peer) -> Ended {
    let json = |packed: bool, size: usize| {
        let body = zeros(size);
        format!(
            "{{\"expectCompressed\":{{\"value\":{packed}}},\"payload\":{{\"body\":\"{body}\"}}}}"
        )
    };
    let (method, call) = peer.open("StreamingInputCall", &How::default()).await?;
    let mut probe = opened(call)?;
    let unpacked = Compression::Identity;
    send(&mut probe, &framed(&method, &json(true, 27_182), unpacked)?).await?;
    let _ = probe.sender.finish().await;
    while probe.receiver.message().await.is_some() {}
    match probe.receiver.status() {
        Some(status) if status.code.is_ok() => return Err(UNCHECKED),
        Some(status) => check_code(status, Code::INVALID_ARGUMENT)?,
        None => return wrong("the call has not ended"),
    }
    let (_, call) = peer.open("StreamingInputCall", &packing()).await?;
    let mut call = opened(call)?;
    let [first, .., last] = REQUEST_SIZES;
    let gzip = Compression::Gzip;
    send(&mut call, &framed(&method, &json(true, first), gzip)?).await?;
    send(&mut call, &framed(&method, &json(false, last), unpacked)?).await?;
    let _ = call.sender.finish().await;
    let Some(message) = call.receiver.message().await else {
        return wrong(format!("no response: {:?}", call.receiver.status()));
    };
    let output = read(&method, &message)?;
    holds(output["aggregatedPayloadSize"] == 73_086, || {
        output.to_string()
    })?;
    ends_well(&mut call).await
}

pub async fn server_streaming(peer: &Peer) -> Ended {
    let (method, call) = peer.open("StreamingOutputCall", &How::default()).await?;
    let mut call = opened(call)?;
    let wishes = "{\"compressed\":{\"value\":true},\"size\":31415},{\"compressed\":{\"value\":false},\"size\":92653}";
    let json = format!("{{\"responseParameters\":[{wishes}]}}");
    send(&mut call, &framed(&method, &json, Compression::Identity)?).await?;
    let _ = call.sender.finish().await;
    for (wanted, size) in [(true, 31_415), (false, 92_653)] {
        let Some(message) = call.receiver.message().await else {
            return wrong(format!("too few responses: {:?}", call.receiver.status()));
        };
        if wanted && !call.receiver.was_compressed() {
            return Err(UNCOMPRESSED);
        }
        holds(call.receiver.was_compressed() == wanted, || {
            "it is packed".to_owned()
        })?;
        check_payload(&read(&method, &message)?, size)?;
    }
    ends_well(&mut call).await
}
