//! The parameters that client and server agree on before a test.

use std::time::Duration;

use plimsoll_units::BitRate;
use serde_json::{Map, Value, json};

use crate::VERSION;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    Tcp,
    Udp,
}

/// The direction of a test: which side sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The client.
    Forward,
    /// The server.
    Reverse,
    /// Both sides, over separate streams.
    Both,
}

/// Condition that ends a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After this time, without the omitted time. Whole seconds, because the protocol has no fractions.
    Time(Duration),
    /// When the streams of each direction have transferred this number of bytes in total.
    Bytes(u64),
    /// When the streams of each direction have sent this number of blocks in total.
    Blocks(u64),
}

/// A test's parameters, which both sides know.
#[derive(Clone, Debug, PartialEq)]
pub struct Test {
    pub protocol: Protocol,
    pub direction: Direction,
    pub end: End,
    /// Time at the start that is measured but omitted. Whole seconds.
    pub omit: Duration,
    /// Streams in each direction.
    pub parallel: u32,
    /// Bytes per block: the size of one write, and of a datagram.
    pub length: usize,
    /// The rate of each stream; `None` for no limit.
    pub rate: Option<BitRate>,
    /// Number of blocks that are sent without a pause if the rate allows it; 0 means one.
    pub burst: u32,
    /// The size of each socket's buffers in bytes.
    pub window: Option<u32>,
    pub segment: Option<u32>,
    pub no_delay: bool,
    pub congestion: Option<String>,
    /// The type of service (RFC 2474), 0 to 255.
    pub tos: u8,
    /// Whether the client requests the server's output.
    pub server_output: bool,
    /// Datagrams are numbered with 64 bits.
    pub wide_counters: bool,
    /// The prefix of each line.
    pub title: Option<String>,
    pub extra_data: Option<String>,
}

/// The limits are those of iperf3.
pub const MAX_STREAMS: u32 = 128;
pub const MAX_BLOCK: usize = 1 << 20;
pub const MAX_DATAGRAM: usize = 65_507;
/// A datagram contains at least its header.
pub const MIN_DATAGRAM: usize = 16;
pub const MAX_TIME: Duration = Duration::from_secs(86_400);
pub const MAX_OMIT: Duration = Duration::from_secs(600);
pub const MAX_WINDOW: u32 = 512 << 20;
pub const MAX_SEGMENT: u32 = 9 * 1024;
pub const MAX_BURST: u32 = 1000;
const MAX_STRING: usize = 4096;

impl Default for Test {
    fn default() -> Self {
        Test {
            protocol: Protocol::Tcp,
            direction: Direction::Forward,
            end: End::Time(Duration::from_secs(10)),
            omit: Duration::ZERO,
            parallel: 1,
            length: 128 << 10,
            rate: None,
            burst: 0,
            window: None,
            segment: None,
            no_delay: false,
            congestion: None,
            tos: 0,
            server_output: false,
            wide_counters: false,
            title: None,
            extra_data: None,
        }
    }
}

impl Test {
    /// Checks the parameters of a test.
    ///
    /// # Errors
    /// A sentence that describes the first invalid parameter.
    pub fn check(&self) -> Result<(), String> {
        let longest = match self.protocol {
            Protocol::Tcp => MAX_BLOCK,
            Protocol::Udp => MAX_DATAGRAM,
        };
        let shortest = match self.protocol {
            Protocol::Tcp => 1,
            Protocol::Udp => MIN_DATAGRAM,
        };
        if !(shortest..=longest).contains(&self.length) {
            return Err(format!(
                "a block of {} bytes: it must have {shortest} to {longest}",
                self.length
            ));
        }
        if !(1..=MAX_STREAMS).contains(&self.parallel) {
            return Err(format!(
                "{} streams: there must be 1 to {MAX_STREAMS}",
                self.parallel
            ));
        }
        if matches!(self.end, End::Time(time) if time > MAX_TIME) {
            return Err("a test can last at most a day (86400 s)".to_owned());
        }
        if matches!(
            self.end,
            End::Time(Duration::ZERO) | End::Bytes(0) | End::Blocks(0)
        ) {
            return Err(
                "a test needs an end condition: a time, or a number of bytes or blocks".to_owned(),
            );
        }
        if self.omit > MAX_OMIT {
            return Err("at most 600 s can be omitted".to_owned());
        }
        if self.window.is_some_and(|window| window > MAX_WINDOW) {
            return Err("a window can have at most 512 MiB".to_owned());
        }
        if self.segment.is_some_and(|segment| segment > MAX_SEGMENT) {
            return Err(format!("a segment can have at most {MAX_SEGMENT} bytes"));
        }
        if self.burst > MAX_BURST {
            return Err(format!("a burst can have at most {MAX_BURST} blocks"));
        }
        Ok(())
    }

    /// Whether the client sends, for each stream of a test in the order in which a client opens them.
    pub fn streams(&self) -> impl Iterator<Item = bool> {
        let (sending, receiving) = match self.direction {
            Direction::Forward => (self.parallel, 0),
            Direction::Reverse => (0, self.parallel),
            Direction::Both => (self.parallel, self.parallel),
        };
        (0..sending)
            .map(|_| true)
            .chain((0..receiving).map(|_| false))
    }

    /// The id of the stream at `index`. iperf3 counts 1, 3, 4, 5 …
    pub fn identity(index: usize) -> u32 {
        let index = u32::try_from(index).unwrap_or(u32::MAX - 2);
        if index == 0 { 1 } else { index + 2 }
    }

    /// The JSON that the client sends.
    pub fn to_json(&self) -> Value {
        let (time, bytes, blocks) = match self.end {
            End::Time(time) => (time.as_secs(), 0, 0),
            End::Bytes(bytes) => (0, bytes, 0),
            End::Blocks(blocks) => (0, 0, blocks),
        };
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        match self.protocol {
            Protocol::Tcp => put("tcp", json!(true)),
            Protocol::Udp => put("udp", json!(true)),
        }
        put("omit", json!(self.omit.as_secs()));
        put("time", json!(time));
        put("num", json!(bytes));
        put("blockcount", json!(blocks));
        if let Some(segment) = self.segment {
            put("MSS", json!(segment));
        }
        if self.no_delay {
            put("nodelay", json!(true));
        }
        put("parallel", json!(self.parallel));
        match self.direction {
            Direction::Forward => {}
            Direction::Reverse => put("reverse", json!(true)),
            Direction::Both => put("bidirectional", json!(true)),
        }
        if let Some(window) = self.window {
            put("window", json!(window));
        }
        put("len", json!(self.length));
        if let Some(rate) = self.rate {
            put("bandwidth", json!(rate.get()));
        }
        if self.burst > 0 {
            put("burst", json!(self.burst));
        }
        put("pacing_timer", json!(1000));
        if self.tos > 0 {
            put("TOS", json!(self.tos));
        }
        if let Some(title) = &self.title {
            put("title", json!(title));
        }
        if let Some(data) = &self.extra_data {
            put("extra_data", json!(data));
        }
        if let Some(name) = &self.congestion {
            put("congestion", json!(name));
        }
        if self.server_output {
            put("get_server_output", json!(1));
        }
        if self.wide_counters {
            put("udp_counters_64bit", json!(1));
        }
        put("client_version", json!(VERSION));
        Value::Object(object)
    }

    /// Parses a client's parameters. Unknown keys are ignored, because later versions may add keys.
    ///
    /// # Errors
    /// A sentence that describes an unsupported parameter.
    pub fn from_json(value: &Value) -> Result<Self, String> {
        let object = value
            .as_object()
            .ok_or("the parameters are not a JSON object")?;
        let number = |key: &str| -> Result<u64, String> {
            match object.get(key) {
                None | Some(Value::Null) => Ok(0),
                Some(value) => whole_number(value)
                    .ok_or_else(|| format!("{key} is {value}, which is not a whole number")),
            }
        };
        let small = |key: &str| -> Result<u32, String> {
            u32::try_from(number(key)?).map_err(|_| format!("{key} is too large"))
        };
        let text = |key: &str| -> Result<Option<String>, String> {
            match object.get(key) {
                None | Some(Value::Null) => Ok(None),
                Some(Value::String(text)) if text.len() <= MAX_STRING => Ok(Some(text.clone())),
                Some(_) => Err(format!(
                    "{key} is not a string of at most {MAX_STRING} bytes"
                )),
            }
        };
        let set = |key: &str| {
            object.get(key).is_some_and(|value| match value {
                Value::Bool(set) => *set,
                other => whole_number(other).is_some_and(|number| number != 0),
            })
        };
        if set("sctp") {
            return Err("SCTP is not supported, only TCP and UDP".to_owned());
        }
        if object.contains_key("authtoken") {
            return Err("authentication is not supported".to_owned());
        }
        let seconds = |key: &str| Ok::<_, String>(Duration::from_secs(number(key)?));
        let end = match (number("num")?, number("blockcount")?) {
            (0, 0) => End::Time(seconds("time")?),
            (0, blocks) => End::Blocks(blocks),
            (bytes, _) => End::Bytes(bytes),
        };
        let nonzero = |value: u32| (value > 0).then_some(value);
        let test = Test {
            protocol: if set("udp") {
                Protocol::Udp
            } else {
                Protocol::Tcp
            },
            direction: match (set("bidirectional"), set("reverse")) {
                (true, _) => Direction::Both,
                (_, true) => Direction::Reverse,
                _ => Direction::Forward,
            },
            end,
            omit: seconds("omit")?,
            parallel: small("parallel")?.max(1),
            length: small("len")? as usize,
            rate: BitRate::new(number("bandwidth")?),
            burst: small("burst")?,
            window: nonzero(small("window")?),
            segment: nonzero(small("MSS")?),
            no_delay: set("nodelay"),
            congestion: text("congestion")?,
            tos: u8::try_from(number("TOS")?).map_err(|_| "TOS is above 255".to_owned())?,
            server_output: set("get_server_output"),
            wide_counters: set("udp_counters_64bit"),
            title: text("title")?,
            extra_data: text("extra_data")?,
        };
        test.check()?;
        Ok(test)
    }
}

/// A whole number that is not negative, in any notation.
fn whole_number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| {
        let number = value.as_f64()?;
        (number.fract() == 0.0 && (0.0..1.8e19).contains(&number)).then_some(number as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_survive_a_round_trip() {
        let test = Test {
            protocol: Protocol::Udp,
            direction: Direction::Both,
            end: End::Blocks(12),
            omit: Duration::from_secs(2),
            parallel: 3,
            length: 1448,
            rate: BitRate::new(5_000_000),
            burst: 4,
            window: Some(100_000),
            segment: Some(1000),
            no_delay: true,
            congestion: Some("cubic".to_owned()),
            tos: 16,
            server_output: true,
            wide_counters: true,
            title: Some("t".to_owned()),
            extra_data: Some("x".to_owned()),
        };
        assert_eq!(Test::from_json(&test.to_json()), Ok(test));
        assert_eq!(
            Test::from_json(&Test::default().to_json()),
            Ok(Test::default())
        );
    }

    #[test]
    fn iperf3s_parameters_are_parsed() {
        let sent = r#"{"tcp":true,"omit":1,"time":2,"num":0,"blockcount":0,"MSS":1000,"nodelay":true,"parallel":2,
            "window":204800,"len":131072,"bandwidth":50000000,"pacing_timer":1000,"congestion":"cubic",
            "get_server_output":1,"client_version":"3.12"}"#;
        let test = Test::from_json(&serde_json::from_str(sent).expect("JSON")).expect("a test");
        assert_eq!(test.end, End::Time(Duration::from_secs(2)));
        assert_eq!(test.window, Some(204_800));
        assert_eq!(test.congestion.as_deref(), Some("cubic"));
        assert_eq!(test.streams().collect::<Vec<_>>(), [true, true]);
        assert_eq!([0, 1, 2].map(Test::identity), [1, 3, 4]);
    }

    #[test]
    fn unsupported_parameters_are_refused() {
        for (sent, part) in [
            (json!([]), "not a JSON object"),
            (json!({ "sctp": true, "len": 1000, "time": 1 }), "SCTP"),
            (
                json!({ "authtoken": "x", "len": 1000, "time": 1 }),
                "authentication",
            ),
            (
                json!({ "tcp": true, "len": 0, "time": 1 }),
                "a block of 0 bytes",
            ),
            (
                json!({ "tcp": true, "len": 1e9, "time": 1 }),
                "1 to 1048576",
            ),
            (json!({ "udp": true, "len": 8, "time": 1 }), "16 to 65507"),
            (
                json!({ "tcp": true, "len": 1000, "time": 1, "parallel": 1_000_000 }),
                "1 to 128",
            ),
            (
                json!({ "tcp": true, "len": 1000, "time": 100_000 }),
                "a day",
            ),
            (json!({ "tcp": true, "len": 1000 }), "needs an end"),
            (json!({ "tcp": true, "len": -5, "time": 1 }), "len is -5"),
            (
                json!({ "tcp": true, "len": 1000, "time": 1, "window": 1e18 }),
                "window is too large",
            ),
            (
                json!({ "tcp": true, "len": 1000, "time": 1, "congestion": 5 }),
                "congestion is not a string",
            ),
        ] {
            let error = Test::from_json(&sent).expect_err("cannot be served");
            assert!(error.contains(part), "{sent}: {error}");
        }
    }
}
