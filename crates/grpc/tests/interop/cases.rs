//! The client cases of gRPC's interoperability tests, with their original names:
//! <https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md>. Not included: cloud
//! credentials, load reports for balancers, and calls by GET, which no HTTP/2 client makes today.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use plimsoll_grpc::{Call, Code, Compression, Metadata};

use super::compressed;
use super::peer::{
    Ended, Fault, How, Peer, check_code, check_payload, framed, holds, read, wrong, zeros,
};

type Running<'a> = Pin<Box<dyn Future<Output = Ended> + 'a>>;

/// A case: its name and the function that runs it.
pub type Case = (&'static str, fn(&Peer) -> Running<'_>);

macro_rules! cases {
    ($($path:path as $name:literal),* $(,)?) => { &[$(($name, |peer| Box::pin($path(peer)))),*] };
}

pub const CASES: &[Case] = cases![
    empty_unary as "empty_unary",
    large_unary as "large_unary",
    compressed::client_unary as "client_compressed_unary",
    compressed::server_unary as "server_compressed_unary",
    client_streaming as "client_streaming",
    compressed::client_streaming as "client_compressed_streaming",
    server_streaming as "server_streaming",
    compressed::server_streaming as "server_compressed_streaming",
    ping_pong as "ping_pong",
    empty_stream as "empty_stream",
    custom_metadata as "custom_metadata",
    status_code_and_message as "status_code_and_message",
    special_status_message as "special_status_message",
    unimplemented_method as "unimplemented_method",
    unimplemented_service as "unimplemented_service",
    cancel_after_begin as "cancel_after_begin",
    cancel_after_first_response as "cancel_after_first_response",
    timeout_on_sleeping_server as "timeout_on_sleeping_server",
    rpc_soak as "rpc_soak",
    channel_soak as "channel_soak",
];

/// Longer than any case takes on the slowest machine.
const LONG: Duration = Duration::from_secs(60);

pub async fn run(case: &Case, peer: &Peer) -> Ended {
    let ended = tokio::time::timeout(LONG, case.1(peer)).await;
    ended.unwrap_or_else(|_| wrong("it hangs"))
}

pub const REQUEST_SIZES: [usize; 4] = [27182, 8, 1828, 45904];
pub const RESPONSE_SIZES: [usize; 4] = [31415, 9, 2653, 58979];
const SOAK: usize = 10;

async fn empty_unary(peer: &Peer) -> Ended {
    let identity = Compression::Identity;
    let reply = peer
        .unary(
            &peer.channel(),
            "EmptyCall",
            "{}",
            identity,
            &How::default(),
        )
        .await?;
    check_code(&reply.status, Code::OK)?;
    let message = reply.message.unwrap_or_default();
    holds(message.is_empty(), || format!("{message:?} is not empty"))
}

async fn large_unary(peer: &Peer) -> Ended {
    large(peer, &peer.channel()).await
}

async fn large(peer: &Peer, channel: &plimsoll_grpc::Channel) -> Ended {
    let body = zeros(271_828);
    let json = format!("{{\"responseSize\":314159,\"payload\":{{\"body\":\"{body}\"}}}}");
    let identity = Compression::Identity;
    let reply = peer
        .unary(channel, "UnaryCall", &json, identity, &How::default())
        .await?;
    check_code(&reply.status, Code::OK)?;
    let message = reply.message.unwrap_or_default();
    check_payload(&read(&peer.method("UnaryCall")?, &message)?, 314_159)
}

async fn rpc_soak(peer: &Peer) -> Ended {
    let channel = peer.new_channel();
    for _ in 0..SOAK {
        large(peer, &channel).await?;
    }
    holds(channel.opened() == 1, || {
        format!("{} connections were opened", channel.opened())
    })
}

async fn channel_soak(peer: &Peer) -> Ended {
    for _ in 0..SOAK {
        large(peer, &peer.new_channel()).await?;
    }
    Ok(())
}

async fn client_streaming(peer: &Peer) -> Ended {
    let (method, call) = peer.open("StreamingInputCall", &How::default()).await?;
    let mut call = opened(call)?;
    for size in REQUEST_SIZES {
        let json = format!("{{\"payload\":{{\"body\":\"{}\"}}}}", zeros(size));
        send(&mut call, &framed(&method, &json, Compression::Identity)?).await?;
    }
    let _ = call.sender.finish().await;
    let Some(message) = call.receiver.message().await else {
        return wrong(format!("no response: {:?}", call.receiver.status()));
    };
    let output = read(&method, &message)?;
    holds(output["aggregatedPayloadSize"] == 74_922, || {
        output.to_string()
    })?;
    ends_well(&mut call).await
}

async fn server_streaming(peer: &Peer) -> Ended {
    let (method, call) = peer.open("StreamingOutputCall", &How::default()).await?;
    let mut call = opened(call)?;
    let wishes = RESPONSE_SIZES.map(|size| format!("{{\"size\":{size}}}"));
    let json = format!("{{\"responseParameters\":[{}]}}", wishes.join(","));
    send(&mut call, &framed(&method, &json, Compression::Identity)?).await?;
    let _ = call.sender.finish().await;
    for size in RESPONSE_SIZES {
        let Some(message) = call.receiver.message().await else {
            return wrong(format!("too few responses: {:?}", call.receiver.status()));
        };
        check_payload(&read(&method, &message)?, size)?;
    }
    ends_well(&mut call).await
}

async fn ping_pong(peer: &Peer) -> Ended {
    let (_, call) = peer.open("FullDuplexCall", &How::default()).await?;
    let mut call = opened(call)?;
    for (request, response) in REQUEST_SIZES.into_iter().zip(RESPONSE_SIZES) {
        play(peer, &mut call, request, response).await?;
    }
    let _ = call.sender.finish().await;
    ends_well(&mut call).await
}

/// One message in each direction, in a full-duplex call.
async fn play(peer: &Peer, call: &mut Call, request: usize, response: usize) -> Ended {
    let method = peer.method("FullDuplexCall")?;
    let json = duplex(request, response);
    send(call, &framed(&method, &json, Compression::Identity)?).await?;
    let Some(message) = call.receiver.message().await else {
        return wrong(format!("no response: {:?}", call.receiver.status()));
    };
    check_payload(&read(&method, &message)?, response)
}

fn duplex(request: usize, response: usize) -> String {
    let body = zeros(request);
    format!(
        "{{\"responseParameters\":[{{\"size\":{response}}}],\"payload\":{{\"body\":\"{body}\"}}}}"
    )
}

async fn empty_stream(peer: &Peer) -> Ended {
    let (_, call) = peer.open("FullDuplexCall", &How::default()).await?;
    let mut call = opened(call)?;
    let _ = call.sender.finish().await;
    ends_well(&mut call).await
}

const INITIAL: (&str, &[u8]) = ("x-grpc-test-echo-initial", b"test_initial_metadata_value");
const TRAILING: (&str, &[u8]) = ("x-grpc-test-echo-trailing-bin", b"\xab\xab\xab");

async fn custom_metadata(peer: &Peer) -> Ended {
    let mut metadata = Metadata::new();
    for (name, value) in [INITIAL, TRAILING] {
        metadata.append(name, value).map_err(Fault::Wrong)?;
    }
    let how = How {
        metadata,
        ..How::default()
    };
    let json = format!(
        "{{\"responseSize\":314159,\"payload\":{{\"body\":\"{}\"}}}}",
        zeros(271_828)
    );
    let identity = Compression::Identity;
    let reply = peer
        .unary(&peer.channel(), "UnaryCall", &json, identity, &how)
        .await?;
    check_code(&reply.status, Code::OK)?;
    check_echoes(&reply.headers(), &reply.trailers())?;

    let (_, call) = peer.open("FullDuplexCall", &how).await?;
    let mut call = opened(call)?;
    play(peer, &mut call, 271_828, 314_159).await?;
    let _ = call.sender.finish().await;
    ends_well(&mut call).await?;
    check_echoes(&call.receiver.headers(), &call.receiver.trailers())
}

fn check_echoes(headers: &Metadata, trailers: &Metadata) -> Ended {
    holds(headers.iter().any(|pair| pair == INITIAL), || {
        format!("{INITIAL:?} is not in {headers:?}")
    })?;
    holds(trailers.iter().any(|pair| pair == TRAILING), || {
        format!("{TRAILING:?} is not in {trailers:?}")
    })
}

async fn status_code_and_message(peer: &Peer) -> Ended {
    let text = "test status message";
    let wish = format!("{{\"responseStatus\":{{\"code\":2,\"message\":\"{text}\"}}}}");
    echoed_status(peer, "UnaryCall", &wish, text).await?;
    let (method, call) = peer.open("FullDuplexCall", &How::default()).await?;
    let mut call = opened(call)?;
    send(&mut call, &framed(&method, &wish, Compression::Identity)?).await?;
    let _ = call.sender.finish().await;
    while call.receiver.message().await.is_some() {}
    let status = call.receiver.status().cloned();
    holds(
        status
            .as_ref()
            .is_some_and(|status| status.code == Code::UNKNOWN && status.message == text),
        || format!("{status:?}"),
    )
}

async fn special_status_message(peer: &Peer) -> Ended {
    let text = "\t\ntest with whitespace\r\nand Unicode BMP \u{263a} and non-BMP \u{1f608}\t\n";
    let output = serde_json::json!({ "responseStatus": { "code": 2, "message": text } });
    echoed_status(peer, "UnaryCall", &output.to_string(), text).await
}

async fn echoed_status(peer: &Peer, name: &str, wish: &str, text: &str) -> Ended {
    let identity = Compression::Identity;
    let status = peer
        .unary(&peer.channel(), name, wish, identity, &How::default())
        .await?
        .status;
    check_code(&status, Code::UNKNOWN)?;
    holds(status.message == text, || format!("{:?}", status.message))
}

async fn unimplemented_method(peer: &Peer) -> Ended {
    unimplemented(peer, "UnimplementedCall").await
}

async fn unimplemented_service(peer: &Peer) -> Ended {
    unimplemented(peer, "UnimplementedService/UnimplementedCall").await
}

async fn unimplemented(peer: &Peer, name: &str) -> Ended {
    let identity = Compression::Identity;
    check_code(
        &peer
            .unary(&peer.channel(), name, "{}", identity, &How::default())
            .await?
            .status,
        Code::UNIMPLEMENTED,
    )
}

async fn cancel_after_begin(peer: &Peer) -> Ended {
    let (_, call) = peer.open("StreamingInputCall", &How::default()).await?;
    let mut call = opened(call)?;
    call.sender.cancel();
    ends_with(&mut call, Code::CANCELED).await
}

async fn cancel_after_first_response(peer: &Peer) -> Ended {
    let (_, call) = peer.open("FullDuplexCall", &How::default()).await?;
    let mut call = opened(call)?;
    play(peer, &mut call, 27_182, 31_415).await?;
    call.sender.cancel();
    ends_with(&mut call, Code::CANCELED).await
}

async fn timeout_on_sleeping_server(peer: &Peer) -> Ended {
    let how = How {
        timeout: Some(Duration::from_millis(1)),
        ..How::default()
    };
    let (method, call) = peer.open("FullDuplexCall", &how).await?;
    let mut call = match call {
        Ok(call) => call,
        Err(status) => return check_code(&status, Code::DEADLINE_EXCEEDED),
    };
    let body = format!("{{\"payload\":{{\"body\":\"{}\"}}}}", zeros(27_182));
    let message = framed(&method, &body, Compression::Identity)?;
    // The deadline may pass before everything is sent.
    let _ = call.sender.send(&message).await;
    ends_with(&mut call, Code::DEADLINE_EXCEEDED).await
}

/// The call, if it could be opened.
pub fn opened(call: Result<Call, plimsoll_grpc::Status>) -> Result<Call, Fault> {
    call.map_err(|status| Fault::Wrong(format!("the call could not be opened: {status}")))
}

/// Sends a message of a stream.
pub async fn send(call: &mut Call, message: &plimsoll_grpc::Framed) -> Ended {
    let sent = call.sender.send(message).await;
    sent.map_err(|status| Fault::Wrong(format!("the message could not be sent: {status}")))
}

/// Checks that nothing more arrives and that the status is OK.
pub async fn ends_well(call: &mut Call) -> Ended {
    ends_with(call, Code::OK).await
}

async fn ends_with(call: &mut Call, code: Code) -> Ended {
    if call.receiver.message().await.is_some() {
        return wrong("there is one message too many");
    }
    match call.receiver.status() {
        Some(status) => check_code(status, code),
        None => wrong("the call has not ended"),
    }
}
