//! MySQL and MariaDB on a stream of the run's network.

mod address;
mod login;
pub mod packets;
mod password;
mod value;

use plimsoll_net::{Steps, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt, BufReader};

pub use address::{Address, Security};
use packets::{Column, Done, Reader};
use value::execution;
pub use value::{binary_row, text_row};

use crate::connect_options::ConnectOptions;
use crate::value::{Changes, Rows, SqlValue};

/// Maximum length of a packet that is read from a server, as in Go's driver.
const MAX_PACKET: usize = 64 << 20;
/// A packet with this length is continued in the next packet.
const FULL: usize = 0xFF_FFFF;

/// The first byte of a request.
mod command {
    pub const QUERY: u8 = 0x03;
    pub const PREPARE: u8 = 0x16;
    pub const EXECUTE: u8 = 0x17;
    pub const CLOSE_STATEMENT: u8 = 0x19;
}

/// Why a request failed.
#[derive(Debug)]
enum Failed {
    /// The server's error message. The connection can still be used.
    Refused(String),
    /// Another failure. The connection can no longer be used.
    Broken(String),
}

impl Failed {
    fn into_text(self) -> String {
        match self {
            Failed::Refused(text) | Failed::Broken(text) => text,
        }
    }
}

fn malformed() -> Failed {
    Failed::Broken("the server does not respond like a MySQL database".to_owned())
}

fn broken(error: &std::io::Error) -> Failed {
    match error.kind() {
        std::io::ErrorKind::UnexpectedEof => {
            Failed::Broken("the database closed the connection".to_owned())
        }
        _ => Failed::Broken(plimsoll_net::describe(error)),
    }
}

/// An open connection.
pub struct MySql {
    packets: Packets,
    parses_time: bool,
    is_usable: bool,
}

/// The outcome of the statements of one request.
#[derive(Default)]
struct Outcome {
    /// The rows of the first statement that has some.
    rows: Option<Rows>,
    changed: u64,
    last_id: u64,
}

impl MySql {
    pub async fn open(address: &Address, options: &ConnectOptions) -> Result<MySql, String> {
        let (host, port) = (&address.host, address.port);
        let unreachable = |error: &dyn std::fmt::Display| {
            format!("cannot connect to MySQL at {host}:{port}: {error}")
        };
        let mut steps = Steps::default();
        let dialed = options.network.dial(
            host,
            port,
            options.local,
            &options.counter,
            true,
            &mut steps,
        );
        let stream = dialed.await.map_err(|error| unreachable(&error))?.stream;
        let packets = login::log_in(stream, address, options).await;
        let packets = packets.map_err(|failed| unreachable(&failed.into_text()))?;
        let mut opened = MySql {
            packets,
            parses_time: address.parses_time,
            is_usable: true,
        };
        if let Some(setup) = &address.setup {
            let done = opened.run(setup, &[]).await;
            done.map_err(|failed| unreachable(&failed.into_text()))?;
        }
        Ok(opened)
    }

    /// Whether the connection is open.
    pub fn is_usable(&self) -> bool {
        self.is_usable
    }

    pub async fn query(&mut self, text: &str, values: Vec<SqlValue>) -> Result<Rows, String> {
        let outcome = self.noted(text, &values).await?;
        Ok(outcome.rows.unwrap_or_default())
    }

    pub async fn execute(&mut self, text: &str, values: Vec<SqlValue>) -> Result<Changes, String> {
        let outcome = self.noted(text, &values).await?;
        Ok(Changes {
            rows: outcome.changed,
            last_id: Some(outcome.last_id as i64),
        })
    }

    async fn noted(&mut self, text: &str, values: &[SqlValue]) -> Result<Outcome, String> {
        let done = self.run(text, values).await;
        if matches!(done, Err(Failed::Broken(_))) {
            self.is_usable = false;
        }
        done.map_err(Failed::into_text)
    }

    async fn run(&mut self, text: &str, values: &[SqlValue]) -> Result<Outcome, Failed> {
        if values.is_empty() {
            self.packets
                .request(command::QUERY, text.as_bytes())
                .await?;
            return self.outcome(false).await;
        }
        self.packets
            .request(command::PREPARE, text.as_bytes())
            .await?;
        let packet = self.packets.read_success().await?;
        let statement = packets::prepared(&packet).ok_or_else(malformed)?;
        for count in [statement.parameters, statement.columns] {
            // The descriptions of the parameters and columns are not needed.
            if count > 0 {
                self.columns(count.into()).await?;
            }
        }
        let outcome = if usize::from(statement.parameters) == values.len() {
            let request = execution(statement.id, values);
            self.packets.request(command::EXECUTE, &request).await?;
            self.outcome(true).await
        } else {
            Err(Failed::Refused(format!(
                "the query has {} placeholders, and {} values were given",
                statement.parameters,
                values.len()
            )))
        };
        if !matches!(outcome, Err(Failed::Broken(_))) {
            // The server does not respond to this request.
            let id = statement.id.to_le_bytes();
            self.packets.request(command::CLOSE_STATEMENT, &id).await?;
        }
        outcome
    }

    /// Reads the outcomes of all statements of a request.
    async fn outcome(&mut self, is_binary: bool) -> Result<Outcome, Failed> {
        const OF_FILE: u8 = 0xFB;
        let mut outcome = Outcome::default();
        loop {
            let packet = self.packets.read_success().await?;
            let has_more = match packet.first() {
                Some(0) => {
                    let done: Done = packets::done(&packet).ok_or_else(malformed)?;
                    outcome.changed = outcome.changed.saturating_add(done.rows);
                    if done.last_id != 0 {
                        outcome.last_id = done.last_id;
                    }
                    done.has_more
                }
                Some(&OF_FILE) => {
                    let text = "the server requests a file of this machine, which is not supported";
                    return Err(Failed::Broken(text.to_owned()));
                }
                _ => {
                    let count = Reader(&packet).length().ok_or_else(malformed)?;
                    let columns = self.columns(count).await?;
                    let (rows, has_more) = self.rows(&columns, is_binary).await?;
                    outcome.rows.get_or_insert(rows);
                    has_more
                }
            };
            if !has_more {
                return Ok(outcome);
            }
        }
    }

    async fn columns(&mut self, count: u64) -> Result<Vec<Column>, Failed> {
        let mut columns = Vec::new();
        for _ in 0..count {
            let packet = self.packets.read_success().await?;
            columns.push(packets::column(&packet).ok_or_else(malformed)?);
        }
        let packet = self.packets.read_success().await?;
        packets::end(&packet).ok_or_else(malformed)?;
        Ok(columns)
    }

    /// Reads all rows of a result. Also returns whether another result follows.
    async fn rows(&mut self, columns: &[Column], is_binary: bool) -> Result<(Rows, bool), Failed> {
        let mut rows = Vec::new();
        loop {
            let packet = self.packets.read_success().await?;
            if let Some(has_more) = packets::end(&packet) {
                let columns = columns.iter().map(|column| column.name.clone()).collect();
                return Ok((Rows { columns, rows }, has_more));
            }
            let row = match is_binary {
                true => binary_row(columns, &packet, self.parses_time),
                false => text_row(columns, &packet, self.parses_time),
            };
            rows.push(row.ok_or_else(malformed)?);
        }
    }
}

/// A connection as a sequence of packets.
struct Packets {
    stream: BufReader<Stream>,
    /// The number of the next packet. It starts at 0 with each request.
    number: u8,
}

impl Packets {
    fn new(stream: Stream) -> Packets {
        Packets {
            stream: BufReader::new(stream),
            number: 0,
        }
    }

    /// Sends the first packet of a request.
    async fn request(&mut self, command: u8, body: &[u8]) -> Result<(), Failed> {
        self.number = 0;
        let mut packet = Vec::with_capacity(body.len() + 1);
        packet.push(command);
        packet.extend_from_slice(body);
        self.write(&packet).await
    }

    async fn write(&mut self, packet: &[u8]) -> Result<(), Failed> {
        let mut framed = Vec::with_capacity(packet.len() + 4);
        let mut rest = packet;
        loop {
            let (part, after) = rest.split_at(rest.len().min(FULL));
            let [low, middle, high, _] = (part.len() as u32).to_le_bytes();
            framed.extend([low, middle, high, self.number]);
            framed.extend_from_slice(part);
            self.number = self.number.wrapping_add(1);
            rest = after;
            if part.len() < FULL {
                break;
            }
        }
        let sent = self.stream.write_all(&framed).await;
        sent.map_err(|error| broken(&error))?;
        self.stream.flush().await.map_err(|error| broken(&error))
    }

    /// Reads a packet. An error packet becomes an error.
    async fn read_success(&mut self) -> Result<Vec<u8>, Failed> {
        const FAILURE: u8 = 0xFF;
        let packet = self.read().await?;
        match packet.first() {
            Some(&FAILURE) => Err(Failed::Refused(packets::failure(&packet))),
            _ => Ok(packet),
        }
    }

    async fn read(&mut self) -> Result<Vec<u8>, Failed> {
        let mut packet = Vec::new();
        loop {
            let mut header = [0; 4];
            let read = self.stream.read_exact(&mut header).await;
            read.map_err(|error| broken(&error))?;
            let [low, middle, high, number] = header;
            if number != self.number {
                return Err(malformed());
            }
            self.number = self.number.wrapping_add(1);
            let length = u32::from_le_bytes([low, middle, high, 0]) as usize;
            let whole = packet.len() + length;
            if whole > MAX_PACKET {
                let text = format!("a packet of the server has more than {MAX_PACKET} bytes");
                return Err(Failed::Broken(text));
            }
            // Memory grows with the data that arrives, not with the length in the header.
            let mut part = (&mut self.stream).take(length as u64);
            let read = part.read_to_end(&mut packet).await;
            read.map_err(|error| broken(&error))?;
            if packet.len() < whole {
                return Err(Failed::Broken(
                    "the database closed the connection".to_owned(),
                ));
            }
            if length < FULL {
                return Ok(packet);
            }
        }
    }
}
