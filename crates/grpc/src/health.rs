//! gRPC's health checking protocol.

use std::time::Duration;

use crate::channel::Channel;
use crate::code::Code;
use crate::frame::{Compression, Framed};
use crate::metadata::Metadata;
use crate::reply::Reply;
use crate::status::Status;
use crate::template::Template;
use crate::wire::{self, Field};

/// The health of a service: `grpc.health.v1.HealthCheckResponse.ServingStatus`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    Unknown,
    Serving,
    NotServing,
    ServiceUnknown,
}

impl Health {
    /// The number of the status in the protocol.
    pub fn number(self) -> u32 {
        self as u32
    }
}

/// Requests the health of `service`; an empty name means the whole server. Returns the data about
/// the call even if it failed.
pub async fn check_health(
    channel: &Channel,
    service: &str,
    metadata: &Metadata,
    user_agent: &str,
    timeout: Option<Duration>,
) -> (Reply, Option<Health>) {
    let started = plimsoll_clock::now();
    let prepared = Template::new(
        channel.endpoint(),
        "/grpc.health.v1.Health/Check",
        metadata,
        user_agent,
        timeout,
        Compression::Identity,
    );
    let mut question = Vec::new();
    if !service.is_empty() {
        wire::put_bytes(&mut question, 1, service.as_bytes());
    }
    let prepared = prepared
        .map_err(|error| Status::new(Code::INTERNAL, error))
        .and_then(|template| {
            let framed = Framed::new(&question, Compression::Identity, usize::MAX)?;
            Ok((template, framed))
        });
    let (template, framed) = match prepared {
        Ok(prepared) => prepared,
        Err(status) => {
            let mut reply = Reply::starting_at(started);
            reply.status = status;
            return (reply, None);
        }
    };
    let reply = channel.unary(&template, &framed, started).await;
    let health = reply.message.as_ref().map(|message| {
        let number = wire::fields(message).find_map(|field| match field {
            Field::Number(1, number) => Some(number),
            _ => None,
        });
        match number {
            Some(1) => Health::Serving,
            Some(2) => Health::NotServing,
            Some(3) => Health::ServiceUnknown,
            _ => Health::Unknown,
        }
    });
    (reply, health)
}
