//! `k6/x/mqtt`: clients of MQTT brokers.
//!
//! The class is written in JavaScript. Rust opens the connection, transfers the bytes, and encodes and decodes
//! the packets.

use std::cell::RefCell;
use std::sync::OnceLock;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};
use plimsoll_samples::{Contains, Kind};

use super::connection::{connect, now};
use super::scripted::{Scripted, sample};
use super::{BuiltIn, Shape, timers};
use crate::pure::mqtt::{self, Connect, Decoder, Message, Packet, TooLong};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/mqtt",
    shape: Shape::Names,
    entries: &[],
    made: EXPORTS,
    make: Some(|context, exports| SOURCE.make(context, exports)),
};

const EXPORTS: &[&str] = &["Client", "QoS"];

static SOURCE: Scripted = Scripted {
    name: "k6/x/mqtt",
    metrics: &[
        ("mqtt_connecting", Kind::Trend, Contains::Time),
        ("mqtt_messages_sent", Kind::Counter, Contains::Default),
        ("mqtt_messages_received", Kind::Counter, Contains::Default),
        ("mqtt_publish_duration", Kind::Trend, Contains::Time),
        ("mqtt_errors", Kind::Counter, Contains::Default),
    ],
    script: concat!(
        "((native) => {\n'use strict';\n",
        include_str!("client.js"),
        "return { Client, QoS };\n})"
    ),
    native: &[
        Entry::function(c"connect", 5, connect),
        Entry::function(c"now", 0, now),
        Entry::function(c"sample", 3, sample),
        Entry::function(c"setTimeout", 2, timers::set_timeout),
        Entry::function(c"clearTimeout", 1, timers::clear),
        Entry::function(c"setInterval", 2, timers::set_interval),
        Entry::function(c"decoder", 0, |context, _| {
            context.instance(PacketDecoder(RefCell::default()))
        }),
        Entry::function(c"connectPacket", 1, connect_packet),
        Entry::function(c"publishPacket", 5, publish_packet),
        Entry::function(c"subscribePacket", 3, subscribe_packet),
        Entry::function(c"unsubscribePacket", 2, unsubscribe_packet),
        Entry::function(c"acknowledgement", 2, acknowledgement),
        Entry::function(c"pingPacket", 0, |context, _| {
            context.array_buffer(&mqtt::PING)
        }),
        Entry::function(c"disconnectPacket", 0, |context, _| {
            context.array_buffer(&mqtt::DISCONNECT)
        }),
    ],
    exports: EXPORTS,
    code: OnceLock::new(),
};

/// Reads the packets of one connection.
struct PacketDecoder(RefCell<Decoder>);

impl Class for PacketDecoder {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, decoder| PacketDecoder(decoder.0.clone()));

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"read", 1, read)];
        ENTRIES
    }
}

/// `read(bytes)`: the packets that the bytes complete. Each packet is an array of its type and its content.
fn read<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let Some(decoder) = this.instance::<PacketDecoder>() else {
        return Err(context.throw_type("read was called on something else"));
    };
    let bytes = call.argument(0).to_bytes().unwrap_or_default();
    let mut packets = Vec::new();
    let read = decoder
        .0
        .borrow_mut()
        .read(&bytes, &mut |packet| packets.push(packet));
    read.map_err(|error| context.throw_plain(error))?;
    let packets: Result<Vec<_>, Thrown> = packets
        .iter()
        .map(|packet| context.array(content(context, packet)?))
        .collect();
    context.array(packets?)
}

fn content<'c>(context: &'c Context, packet: &Packet) -> Result<Vec<Value<'c>>, Thrown> {
    let (kind, id) = match packet {
        Packet::ConnAck(code) => ("connack", u16::from(*code)),
        Packet::Publish(message) => {
            return Ok(vec![
                context.string("publish")?,
                context.number(message.id),
                context.string(&message.topic)?,
                context.array_buffer(&message.payload)?,
                context.number(message.qos),
            ]);
        }
        Packet::PubAck(id) => ("puback", *id),
        Packet::PubRec(id) => ("pubrec", *id),
        Packet::PubRel(id) => ("pubrel", *id),
        Packet::PubComp(id) => ("pubcomp", *id),
        Packet::SubAck(id, codes) => {
            let codes = context.array(codes.iter().map(|code| context.number(*code)))?;
            return Ok(vec![context.string("suback")?, context.number(*id), codes]);
        }
        Packet::UnsubAck(id) => ("unsuback", *id),
        Packet::PingResp => ("pingresp", 0),
    };
    Ok(vec![context.string(kind)?, context.number(id)])
}

/// `connectPacket({ client_id, username, password, will, keepalive, clean_session })`
fn connect_packet<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let options = call.argument(0).clone();
    let text = |from: &Value<'c>, name: &str| -> Result<Option<String>, Thrown> {
        let value = from.get(name)?;
        match value.is_nullish() {
            true => Ok(None),
            false => Ok(Some(value.to_text()?.into_string())),
        }
    };
    let will = options.get("will")?;
    let will = match will.is_object() {
        true => Some(Message {
            topic: text(&will, "topic")?.unwrap_or_default(),
            payload: bytes(&will.get("payload")?)?,
            qos: quality(context, &will.get("qos")?)?,
            retain: will.get("retain")?.is_truthy(),
            id: 0,
        }),
        false => None,
    };
    let keep_alive = options.get("keepalive")?.to_number()?;
    let packet = mqtt::connect(&Connect {
        client_id: text(&options, "client_id")?.unwrap_or_default(),
        username: text(&options, "username")?,
        password: text(&options, "password")?,
        will,
        // The conversion saturates.
        keep_alive: keep_alive as u16,
        clean_session: options.get("clean_session")?.is_truthy(),
    });
    packed(context, packet)
}

/// `publishPacket(topic, payload, qos, retain, id)`
fn publish_packet<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let topic = call.argument(0).to_text()?.into_string();
    if topic.is_empty() || topic.contains(['+', '#', '\0']) {
        return Err(context.throw_plain(format!(
            "{topic:?} is not a topic to publish to: it must have a name, without + and #"
        )));
    }
    let packet = mqtt::publish(&Message {
        topic,
        payload: bytes(&call.argument(1))?,
        qos: quality(context, &call.argument(2))?,
        retain: call.argument(3).is_truthy(),
        id: id(&call.argument(4))?,
    });
    packed(context, packet)
}

/// `subscribePacket(id, topics, qos)`
fn subscribe_packet<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let topics = topics(context, &call.argument(1))?;
    let qos = quality(context, &call.argument(2))?;
    packed(
        context,
        mqtt::subscribe(id(&call.argument(0))?, &topics, qos),
    )
}

/// `unsubscribePacket(id, topics)`
fn unsubscribe_packet<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let topics = topics(context, &call.argument(1))?;
    packed(context, mqtt::unsubscribe(id(&call.argument(0))?, &topics))
}

/// `acknowledgement(kind, id)`
fn acknowledgement<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let kind = call.argument(0).to_number()? as u8;
    context.array_buffer(&mqtt::acknowledge(kind, id(&call.argument(1))?))
}

fn packed(context: &Context, packet: Result<Vec<u8>, TooLong>) -> Returned<'_> {
    match packet {
        Ok(bytes) => context.array_buffer(&bytes),
        Err(TooLong) => Err(context.throw_plain(
            "too long for MQTT: strings are limited to 65,535 bytes, and messages to 256 MiB",
        )),
    }
}

fn topics(context: &Context, value: &Value<'_>) -> Result<Vec<String>, Thrown> {
    let count = u32::try_from(value.length()?).unwrap_or(u32::MAX);
    let topics = (0..count).map(|at| Ok(value.at(at)?.to_text()?.into_string()));
    let topics: Vec<String> = topics.collect::<Result<_, Thrown>>()?;
    match topics.is_empty() || topics.iter().any(String::is_empty) {
        true => Err(context.throw_plain("a subscription needs a topic")),
        false => Ok(topics),
    }
}

fn bytes(value: &Value<'_>) -> Result<Vec<u8>, Thrown> {
    match value.to_bytes() {
        Some(bytes) => Ok(bytes),
        None if value.is_nullish() => Ok(Vec::new()),
        None => Ok(value.to_text()?.as_bytes().to_vec()),
    }
}

fn quality(context: &Context, value: &Value<'_>) -> Result<u8, Thrown> {
    if value.is_nullish() {
        return Ok(0);
    }
    match value.to_number()? {
        0.0 => Ok(0),
        1.0 => Ok(1),
        2.0 => Ok(2),
        other => Err(context.throw_plain(format!("the QoS {other} is not 0, 1 or 2"))),
    }
}

fn id(value: &Value<'_>) -> Result<u16, Thrown> {
    // The conversion saturates.
    Ok(value.to_number()? as u16)
}
