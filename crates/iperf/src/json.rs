//! A report as JSON in the format of `iperf3 -J`.

use std::time::{Duration, SystemTime};

use plimsoll_units::date_time;
use serde_json::{Map, Value, json};

use crate::VERSION;
use crate::report::{End, Part, Period, Report, Role, Stream, per_second, percent};
use crate::test::{self, Direction, Protocol};
use crate::text::{sum, sums};

/// The complete document.
pub fn document(report: &Report) -> Value {
    let mut document = json!({
        "start": start(report),
        "intervals": report.periods.iter().map(|period| interval(report, period)).collect::<Vec<_>>(),
        "end": end(report),
    });
    if let Some(object) = document.as_object_mut() {
        if let Some(title) = &report.test.title {
            object.insert("title".to_owned(), json!(title));
        }
        if let Some(data) = &report.test.extra_data {
            object.insert("extra_data".to_owned(), json!(data));
        }
        let output = report
            .remote
            .as_ref()
            .and_then(|remote| remote.output.as_ref())
            .filter(|_| report.test.server_output);
        match output {
            None => {}
            Some(Value::String(text)) => {
                object.insert("server_output_text".to_owned(), json!(text));
            }
            Some(other) => {
                object.insert("server_output_json".to_owned(), other.clone());
            }
        }
        if let Some(error) = &report.error {
            object.insert("error".to_owned(), json!(error.to_string()));
        }
    }
    document
}

fn start(report: &Report) -> Value {
    let test = &report.test;
    let connected: Vec<Value> = report
        .streams
        .iter()
        .map(|stream| {
            json!({
                "socket": stream.socket,
                "local_host": stream.local.ip().to_string(),
                "local_port": stream.local.port(),
                "remote_host": stream.remote.ip().to_string(),
                "remote_port": stream.remote.port(),
            })
        })
        .collect();
    let mut object = Map::new();
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    put("connected", json!(connected));
    // Readers detect the format by iperf's version. This program's name is next to it.
    put("version", json!(format!("iperf {VERSION}")));
    put(
        "generator",
        json!(format!("plimsoll {}", env!("CARGO_PKG_VERSION"))),
    );
    put("system_info", json!(system()));
    if report.cookie.is_empty() {
        return Value::Object(object);
    }
    let seconds = report
        .started
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    put(
        "timestamp",
        json!({ "time": date(seconds), "timesecs": seconds }),
    );
    let peer = match report.role {
        Role::Client => "connecting_to",
        Role::Server => "accepted_connection",
    };
    put(peer, json!({ "host": report.host, "port": report.port }));
    put("cookie", json!(report.cookie));
    match (test.protocol, test.segment, report.segment) {
        (Protocol::Tcp, Some(requested), _) => put("tcp_mss", json!(requested)),
        (Protocol::Tcp, None, Some(usual)) => put("tcp_mss_default", json!(usual)),
        _ => {}
    }
    let rate = test.rate.map_or(0, plimsoll_units::BitRate::get);
    put("target_bitrate", json!(rate));
    if let Some(stream) = report.streams.first() {
        put("sock_bufsize", json!(test.window.unwrap_or(0)));
        put("sndbuf_actual", json!(stream.send_buffer));
        put("rcvbuf_actual", json!(stream.receive_buffer));
    }
    let (time, bytes, blocks) = match test.end {
        test::End::Time(time) => (time.as_secs(), 0, 0),
        test::End::Bytes(bytes) => (0, bytes, 0),
        test::End::Blocks(blocks) => (0, 0, blocks),
    };
    put(
        "test_start",
        json!({
            "protocol": match test.protocol { Protocol::Tcp => "TCP", Protocol::Udp => "UDP" },
            "num_streams": test.parallel,
            "blksize": test.length,
            "omit": test.omit.as_secs(),
            "duration": time,
            "bytes": bytes,
            "blocks": blocks,
            "reverse": i32::from(test.direction == Direction::Reverse),
            "tos": test.tos,
            "target_bitrate": rate,
        }),
    );
    Value::Object(object)
}

fn interval(report: &Report, period: &Period) -> Value {
    let udp = report.test.protocol == Protocol::Udp;
    let streams: Vec<Value> = report
        .streams
        .iter()
        .zip(&period.parts)
        .map(|(stream, part)| part_json(Some(stream.socket), period, part, stream.sending, udp))
        .collect();
    let mut object = Map::new();
    object.insert("streams".to_owned(), json!(streams));
    for (key, sending) in sum_keys(report, "sum") {
        if let Some(sum) = sum(&report.streams, period, sending) {
            object.insert(key, part_json(None, period, &sum, sending, udp));
        }
    }
    Value::Object(object)
}

/// The keys of sums. In a bidirectional test, the second direction has separate keys.
fn sum_keys(report: &Report, name: &str) -> Vec<(String, bool)> {
    let first = match (report.role, report.test.direction) {
        (_, Direction::Both) => {
            // The client's direction is first.
            let client = report.role == Role::Client;
            return vec![
                (name.to_owned(), client),
                (format!("{name}_bidir_reverse"), !client),
            ];
        }
        (Role::Client, Direction::Forward) | (Role::Server, Direction::Reverse) => true,
        _ => false,
    };
    vec![(name.to_owned(), first)]
}

fn part_json(socket: Option<i32>, period: &Period, part: &Part, sending: bool, udp: bool) -> Value {
    let time = period.end.saturating_sub(period.start);
    let mut object = head(
        socket,
        period.start,
        period.end,
        part.bytes,
        per_second(part.bytes, time),
    );
    let mut put = |key: &str, value: Value| {
        object.insert(key.to_owned(), value);
    };
    if let Some(count) = part.retransmits {
        put("retransmits", json!(count));
    }
    if let Some(tcp) = part.tcp {
        put("snd_cwnd", json!(tcp.congestion_window));
        put("snd_wnd", json!(tcp.send_window));
        put("rtt", json!(micros(tcp.round_trip)));
        put("rttvar", json!(micros(tcp.round_trip_variance)));
        put("pmtu", json!(tcp.path_mtu));
    }
    if udp && sending {
        put("packets", json!(part.packets));
    }
    if udp && !sending {
        put("jitter_ms", json!(millis(part.jitter)));
        put("lost_packets", json!(part.lost));
        put("packets", json!(part.packets));
        put("lost_percent", json!(percent(part.lost, part.packets)));
    }
    put("omitted", json!(period.omitted));
    put("sender", json!(sending));
    Value::Object(object)
}

fn head(
    socket: Option<i32>,
    start: Duration,
    end: Duration,
    bytes: u64,
    bytes_per_second: f64,
) -> Map<String, Value> {
    let mut object = Map::new();
    if let Some(socket) = socket {
        object.insert("socket".to_owned(), json!(socket));
    }
    object.insert("start".to_owned(), json!(start.as_secs_f64()));
    object.insert("end".to_owned(), json!(end.as_secs_f64()));
    object.insert(
        "seconds".to_owned(),
        json!(end.saturating_sub(start).as_secs_f64()),
    );
    object.insert("bytes".to_owned(), json!(bytes));
    object.insert("bits_per_second".to_owned(), json!(bytes_per_second * 8.0));
    object
}

fn end(report: &Report) -> Value {
    if report.streams.is_empty() {
        return json!({});
    }
    let udp = report.test.protocol == Protocol::Udp;
    let mut object = Map::new();
    let streams: Vec<Value> = report
        .streams
        .iter()
        .map(|stream| {
            if udp {
                udp_stream(report, stream)
            } else {
                tcp_stream(report, stream)
            }
        })
        .collect();
    object.insert("streams".to_owned(), json!(streams));
    for (key, sending) in sum_keys(report, "sum") {
        let (sender, receiver) = sums(report, sending);
        let suffix = key.trim_start_matches("sum").to_owned();
        let (sender, receiver) = (sender.unwrap_or_default(), receiver.unwrap_or_default());
        if udp {
            object.insert(
                key,
                udp_sum(&sender, &receiver, receiver.time.max(sender.time), sending),
            );
            object.insert(format!("sum_sent{suffix}"), udp_end(&sender, true));
            object.insert(format!("sum_received{suffix}"), udp_end(&receiver, false));
        } else {
            object.insert(
                format!("sum_sent{suffix}"),
                tcp_end(None, &sender, true, sending),
            );
            object.insert(
                format!("sum_received{suffix}"),
                tcp_end(None, &receiver, false, sending),
            );
        }
    }
    let remote = report
        .remote
        .as_ref()
        .map(|remote| remote.cpu)
        .unwrap_or_default();
    object.insert(
        "cpu_utilization_percent".to_owned(),
        json!({
            "host_total": report.cpu.total,
            "host_user": report.cpu.user,
            "host_system": report.cpu.system,
            "remote_total": remote.total,
            "remote_user": remote.user,
            "remote_system": remote.system,
        }),
    );
    if !udp {
        let remote_congestion = report
            .remote
            .as_ref()
            .and_then(|remote| remote.congestion.clone());
        let (sender, receiver) = match (report.role, report.test.direction) {
            (Role::Client, Direction::Forward | Direction::Both)
            | (Role::Server, Direction::Reverse) => (report.congestion.clone(), remote_congestion),
            _ => (remote_congestion, report.congestion.clone()),
        };
        for (key, name) in [
            ("sender_tcp_congestion", sender),
            ("receiver_tcp_congestion", receiver),
        ] {
            if let Some(name) = name {
                object.insert(key.to_owned(), json!(name));
            }
        }
    }
    Value::Object(object)
}

fn tcp_stream(report: &Report, stream: &Stream) -> Value {
    let ends = report.ends(stream);
    let total = &stream.total;
    let mut sender = tcp_end(
        Some(stream.socket),
        &ends.sender.unwrap_or_default(),
        true,
        stream.sending,
    );
    if let Some(object) = sender.as_object_mut() {
        let last = object.remove("sender");
        for (key, value) in [
            ("max_snd_cwnd", total.largest_congestion_window),
            ("max_snd_wnd", total.largest_send_window),
            ("max_rtt", micros(total.round_trips.max)),
            ("min_rtt", micros(total.round_trips.min)),
            ("mean_rtt", micros(total.round_trips.mean())),
        ] {
            object.insert(key.to_owned(), json!(value));
        }
        object.insert("sender".to_owned(), last.unwrap_or_default());
    }
    json!({
        "sender": sender,
        "receiver": tcp_end(Some(stream.socket), &ends.receiver.unwrap_or_default(), false, stream.sending),
    })
}

fn tcp_end(socket: Option<i32>, end: &End, sender: bool, sending: bool) -> Value {
    let mut object = head(
        socket,
        Duration::ZERO,
        end.time,
        end.bytes,
        end.bytes_per_second(),
    );
    if let (true, Some(count)) = (sender, end.retransmits) {
        object.insert("retransmits".to_owned(), json!(count));
    }
    object.insert("sender".to_owned(), json!(sending));
    Value::Object(object)
}

fn udp_stream(report: &Report, stream: &Stream) -> Value {
    let ends = report.ends(stream);
    let (sender, receiver) = (
        ends.sender.unwrap_or_default(),
        ends.receiver.unwrap_or_default(),
    );
    let mut value = udp_sum(&sender, &receiver, sender.time, stream.sending);
    if let Some(object) = value.as_object_mut() {
        let mut with_socket = Map::new();
        with_socket.insert("socket".to_owned(), json!(stream.socket));
        let last = object.remove("sender");
        with_socket.append(object);
        with_socket.insert("out_of_order".to_owned(), json!(stream.total.out_of_order));
        with_socket.insert("sender".to_owned(), last.unwrap_or_default());
        *object = with_socket;
    }
    json!({ "udp": value })
}

/// Numbers of sent and lost datagrams.
fn udp_sum(sender: &End, receiver: &End, time: Duration, sending: bool) -> Value {
    let packets = sender.packets.max(receiver.packets);
    let mut object = head(
        None,
        Duration::ZERO,
        time,
        sender.bytes,
        sender.bytes_per_second(),
    );
    object.insert("jitter_ms".to_owned(), json!(millis(receiver.jitter)));
    object.insert("lost_packets".to_owned(), json!(receiver.lost));
    object.insert("packets".to_owned(), json!(packets));
    object.insert(
        "lost_percent".to_owned(),
        json!(percent(receiver.lost, packets)),
    );
    object.insert("sender".to_owned(), json!(sending));
    Value::Object(object)
}

fn udp_end(end: &End, sender: bool) -> Value {
    let (jitter, lost) = if sender {
        (0.0, 0)
    } else {
        (millis(end.jitter), end.lost)
    };
    let mut object = head(
        None,
        Duration::ZERO,
        end.time,
        end.bytes,
        end.bytes_per_second(),
    );
    object.insert("jitter_ms".to_owned(), json!(jitter));
    object.insert("lost_packets".to_owned(), json!(lost));
    object.insert("packets".to_owned(), json!(end.packets));
    object.insert("lost_percent".to_owned(), json!(percent(lost, end.packets)));
    object.insert("sender".to_owned(), json!(sender));
    Value::Object(object)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// Like the output of `uname -a`, without repetitions.
fn system() -> String {
    let name = rustix::system::uname();
    [
        name.sysname(),
        name.nodename(),
        name.release(),
        name.version(),
        name.machine(),
    ]
    .map(|part| part.to_string_lossy().into_owned())
    .join(" ")
}

/// The date format of RFC 9110 §5.6.7, for example `Sat, 21 Nov 2026 09:54:07 GMT`.
fn date(seconds: u64) -> String {
    let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
    date_time(seconds)
        .strftime("%a, %d %b %Y %H:%M:%S GMT")
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_formatted_as_in_http() {
        assert_eq!(date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(date(1_795_254_847), "Sat, 21 Nov 2026 09:54:07 GMT");
        assert_eq!(date(951_782_399), "Mon, 28 Feb 2000 23:59:59 GMT");
        assert_eq!(date(951_782_400), "Tue, 29 Feb 2000 00:00:00 GMT");
    }
}
