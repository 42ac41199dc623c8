//! Looks up addresses at name servers that the user specified, instead of through the system.
//! Queries use UDP, and TCP if the response is too large for UDP.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpStream, UdpSocket};

use crate::dns_message::{Family, NO_SUCH_NAME, Reply, Unreadable, question, reply};
use crate::hosts_file;

/// How long to wait for one response from one server.
const PATIENCE: Duration = Duration::from_secs(5);
/// Number of queries to each server, because datagrams can get lost.
const ATTEMPTS: usize = 2;
/// Maximum length of a datagram; without EDNS they have at most 512 bytes.
const MAX_DATAGRAM: usize = 4096;

/// The servers. Successive queries start with successive servers.
#[derive(Debug)]
pub(crate) struct NameServers {
    servers: Vec<SocketAddr>,
    turn: Cell<usize>,
}

impl NameServers {
    /// Returns `None` if `servers` is empty.
    pub(crate) fn new(servers: &[SocketAddr]) -> Option<NameServers> {
        (!servers.is_empty()).then(|| NameServers {
            servers: servers.to_vec(),
            turn: Cell::new(0),
        })
    }

    /// Looks up the addresses of `host`; the result is empty if the name does not exist. The hosts file
    /// takes precedence, as in the system's own resolver. `id` identifies the query.
    pub(crate) async fn look_up(
        &self,
        host: &str,
        families: &[Family],
        id: u16,
    ) -> io::Result<Vec<IpAddr>> {
        if let Ok(text) = std::fs::read_to_string("/etc/hosts") {
            let known = hosts_file::addresses_of(host, &text);
            if !known.is_empty() {
                return Ok(known);
            }
        }
        let mut addresses = Vec::new();
        for family in families {
            let Some(question) = question(id, host, *family) else {
                return Ok(Vec::new());
            };
            addresses.extend(self.query_servers(&question, *family).await?);
        }
        Ok(addresses)
    }

    /// Queries servers until one succeeds. If none does, returns the last error.
    async fn query_servers(&self, question: &[u8], family: Family) -> io::Result<Vec<IpAddr>> {
        let first = self.turn.replace(self.turn.get().wrapping_add(1));
        let count = self.servers.len();
        let mut last = io::Error::other("no name server was queried");
        for attempt in 0..count * ATTEMPTS {
            let Some(server) = self.servers.get(first.wrapping_add(attempt) % count) else {
                break;
            };
            match query_server(*server, question, family).await {
                Ok(Reply {
                    code: 0, addresses, ..
                }) => return Ok(addresses),
                Ok(Reply {
                    code: NO_SUCH_NAME, ..
                }) => return Ok(Vec::new()),
                Ok(Reply { code, .. }) => {
                    last = io::Error::other(format!(
                        "the name server {server} responded with {}",
                        refusal(code)
                    ));
                }
                Err(error) => {
                    last =
                        io::Error::new(error.kind(), format!("the name server {server}: {error}"));
                }
            }
        }
        Err(last)
    }
}

/// Queries one server once for the addresses of `host`, without a cache: over UDP, or over TCP if
/// the response is too large for UDP. `id` identifies the query.
///
/// # Errors
/// If `host` cannot be a DNS name, or no valid response arrives in time.
pub async fn query(server: SocketAddr, host: &str, family: Family, id: u16) -> io::Result<Reply> {
    match question(id, host, family) {
        Some(question) => query_server(server, &question, family).await,
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{host:?} cannot be a name"),
        )),
    }
}

async fn query_server(server: SocketAddr, question: &[u8], family: Family) -> io::Result<Reply> {
    let asking = async {
        let reply = over_udp(server, question, family).await?;
        if reply.truncated {
            return over_tcp(server, question, family).await;
        }
        Ok(reply)
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(reply) => reply,
        Err(_elapsed) => Err(io::Error::new(
            io::ErrorKind::TimedOut,
            "no response within 5 s",
        )),
    }
}

async fn over_udp(server: SocketAddr, question: &[u8], family: Family) -> io::Result<Reply> {
    let any: IpAddr = match server {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    let socket = UdpSocket::bind((any, 0)).await?;
    socket.connect(server).await?;
    socket.send(question).await?;
    let mut datagram = [0; MAX_DATAGRAM];
    loop {
        let length = socket.recv(&mut datagram).await?;
        let datagram = datagram.get(..length).unwrap_or_default();
        match reply(question, family, datagram) {
            // This may be a late response to an earlier query, or a spoofed response.
            Err(Unreadable::NotOurs) => {}
            Err(Unreadable::Broken) => return Err(malformed()),
            Ok(reply) => return Ok(reply),
        }
    }
}

/// RFC 7766: two bytes before each message contain its length.
async fn over_tcp(server: SocketAddr, question: &[u8], family: Family) -> io::Result<Reply> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(|_| malformed())?;
    let message = [&length.to_be_bytes(), question].concat();
    stream.write_all(&message).await?;
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    reply(question, family, &message).map_err(|_| malformed())
}

fn malformed() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "its response is malformed: it ends too early or contains a wrong length",
    )
}

/// The response codes of RFC 1035, section 4.1.1.
pub fn refusal(code: u8) -> String {
    match code {
        NO_SUCH_NAME => "NXDOMAIN: the name does not exist".to_owned(),
        1 => "FORMERR: it does not understand the query".to_owned(),
        2 => "SERVFAIL: its lookup failed".to_owned(),
        4 => "NOTIMP: it does not support such queries".to_owned(),
        5 => "REFUSED: it does not accept queries from this machine".to_owned(),
        code => format!("code {code}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Starts a name server that responds to each query with `answer`, over UDP and TCP.
    async fn server(answer: fn(&[u8], bool) -> Option<Vec<u8>>) -> SocketAddr {
        let (socket, listener) = loop {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = socket.local_addr().unwrap();
            if let Ok(listener) = tokio::net::TcpListener::bind(address).await {
                break (socket, listener);
            }
        };
        let address = socket.local_addr().unwrap();
        tokio::spawn(async move {
            let mut datagram = [0; 512];
            loop {
                let (length, from) = socket.recv_from(&mut datagram).await.unwrap();
                if let Some(reply) = answer(&datagram[..length], false) {
                    socket.send_to(&reply, from).await.unwrap();
                }
            }
        });
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut query_bytes = vec![0; stream.read_u16().await.unwrap().into()];
                stream.read_exact(&mut query_bytes).await.unwrap();
                if let Some(reply) = answer(&query_bytes, true) {
                    stream.write_u16(reply.len() as u16).await.unwrap();
                    stream.write_all(&reply).await.unwrap();
                }
            }
        });
        address
    }

    /// A response with one address, or with only the flags.
    fn response(query_bytes: &[u8], flags: [u8; 2], address: Option<[u8; 4]>) -> Vec<u8> {
        let mut reply = query_bytes.to_vec();
        reply[2..4].copy_from_slice(&flags);
        if let Some(address) = address {
            reply[7] = 1;
            reply.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x09\0\x04");
            reply.extend(address);
        }
        reply
    }

    async fn look_up(servers: &[SocketAddr]) -> Result<Vec<IpAddr>, String> {
        let servers = NameServers::new(servers).unwrap();
        let found = servers.look_up("a.test", &[Family::V4], 77).await;
        found.map_err(|error| error.to_string())
    }

    fn run(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(test);
    }

    #[test]
    fn truncated_responses_are_requested_again_over_tcp() {
        run(async {
            let server = server(|query_bytes, tcp| {
                Some(match tcp {
                    false => response(query_bytes, [0x83, 0x80], None),
                    true => response(query_bytes, [0x81, 0x80], Some([127, 0, 0, 9])),
                })
            })
            .await;
            assert_eq!(
                look_up(&[server]).await,
                Ok(vec!["127.0.0.9".parse().unwrap()])
            );
        });
    }

    #[test]
    fn a_failed_server_is_named_and_the_next_one_queried() {
        run(async {
            let failing =
                server(|query_bytes, _| Some(response(query_bytes, [0x81, 0x82], None))).await;
            let malformed = server(|query_bytes, _| {
                let mut reply = response(query_bytes, [0x81, 0x80], Some([127, 0, 0, 9]));
                reply.pop();
                Some(reply)
            })
            .await;
            let genuine = server(|query_bytes, _| {
                Some(response(query_bytes, [0x81, 0x80], Some([127, 0, 0, 9])))
            })
            .await;
            let unknown_name =
                server(|query_bytes, _| Some(response(query_bytes, [0x81, 0x83], None))).await;
            for servers in [[failing, genuine], [malformed, genuine]] {
                assert_eq!(look_up(&servers).await.map(|found| found.len()), Ok(1));
            }
            assert_eq!(look_up(&[unknown_name]).await, Ok(Vec::new()));
            let output = look_up(&[failing]).await.unwrap_err();
            assert!(
                output.contains("SERVFAIL") && output.contains(&failing.to_string()),
                "{output}"
            );
            let output = look_up(&[malformed]).await.unwrap_err();
            assert!(output.contains("malformed"), "{output}");
        });
    }

    #[test]
    fn responses_from_other_senders_are_ignored() {
        run(async {
            // The first response has another id, as a spoofed response would have.
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            let address = socket.local_addr().unwrap();
            tokio::spawn(async move {
                let mut query_bytes = [0; 512];
                let (length, from) = socket.recv_from(&mut query_bytes).await.unwrap();
                let genuine = response(&query_bytes[..length], [0x81, 0x80], Some([127, 0, 0, 9]));
                let mut spoofed =
                    response(&query_bytes[..length], [0x81, 0x80], Some([127, 0, 0, 66]));
                spoofed[0] ^= 1;
                socket.send_to(&spoofed, from).await.unwrap();
                socket.send_to(b"", from).await.unwrap();
                socket.send_to(&genuine, from).await.unwrap();
            });
            assert_eq!(
                look_up(&[address]).await,
                Ok(vec!["127.0.0.9".parse().unwrap()])
            );
        });
    }
}
