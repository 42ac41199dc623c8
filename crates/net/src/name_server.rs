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
const LONGEST: usize = 4096;

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
            addresses.extend(self.ask(&question, *family).await?);
        }
        Ok(addresses)
    }

    /// Queries servers until one succeeds. If none does, returns the last error.
    async fn ask(&self, question: &[u8], family: Family) -> io::Result<Vec<IpAddr>> {
        let first = self.turn.replace(self.turn.get().wrapping_add(1));
        let count = self.servers.len();
        let mut last = io::Error::other("no name server was queried");
        for attempt in 0..count * ATTEMPTS {
            let Some(server) = self.servers.get(first.wrapping_add(attempt) % count) else {
                break;
            };
            match ask_one(*server, question, family).await {
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
        Some(question) => ask_one(server, &question, family).await,
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{host:?} cannot be a name"),
        )),
    }
}

async fn ask_one(server: SocketAddr, question: &[u8], family: Family) -> io::Result<Reply> {
    let asking = async {
        let said = over_udp(server, question, family).await?;
        if said.truncated {
            return over_tcp(server, question, family).await;
        }
        Ok(said)
    };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(said) => said,
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
    let mut datagram = [0; LONGEST];
    loop {
        let length = socket.recv(&mut datagram).await?;
        let datagram = datagram.get(..length).unwrap_or_default();
        match reply(question, family, datagram) {
            // This may be a late response to an earlier query, or a spoofed response.
            Err(Unreadable::NotOurs) => {}
            Err(Unreadable::Broken) => return Err(broken()),
            Ok(said) => return Ok(said),
        }
    }
}

/// RFC 7766: two bytes before each message contain its length.
async fn over_tcp(server: SocketAddr, question: &[u8], family: Family) -> io::Result<Reply> {
    let mut stream = TcpStream::connect(server).await?;
    let length = u16::try_from(question.len()).map_err(|_| broken())?;
    let message = [&length.to_be_bytes(), question].concat();
    stream.write_all(&message).await?;
    let mut message = vec![0; usize::from(stream.read_u16().await?)];
    stream.read_exact(&mut message).await?;
    reply(question, family, &message).map_err(|_| broken())
}

fn broken() -> io::Error {
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
                if let Some(said) = answer(&datagram[..length], false) {
                    socket.send_to(&said, from).await.unwrap();
                }
            }
        });
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut asked = vec![0; stream.read_u16().await.unwrap().into()];
                stream.read_exact(&mut asked).await.unwrap();
                if let Some(said) = answer(&asked, true) {
                    stream.write_u16(said.len() as u16).await.unwrap();
                    stream.write_all(&said).await.unwrap();
                }
            }
        });
        address
    }

    /// A response with one address, or with only the flags.
    fn says(asked: &[u8], flags: [u8; 2], address: Option<[u8; 4]>) -> Vec<u8> {
        let mut said = asked.to_vec();
        said[2..4].copy_from_slice(&flags);
        if let Some(address) = address {
            said[7] = 1;
            said.extend(b"\xc0\x0c\0\x01\0\x01\0\0\0\x09\0\x04");
            said.extend(address);
        }
        said
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
            let server = server(|asked, tcp| {
                Some(match tcp {
                    false => says(asked, [0x83, 0x80], None),
                    true => says(asked, [0x81, 0x80], Some([127, 0, 0, 9])),
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
    fn if_a_server_fails_the_next_is_queried_and_the_failed_one_named() {
        run(async {
            let failing = server(|asked, _| Some(says(asked, [0x81, 0x82], None))).await;
            let broken = server(|asked, _| {
                let mut said = says(asked, [0x81, 0x80], Some([127, 0, 0, 9]));
                said.pop();
                Some(said)
            })
            .await;
            let right =
                server(|asked, _| Some(says(asked, [0x81, 0x80], Some([127, 0, 0, 9])))).await;
            let nobody = server(|asked, _| Some(says(asked, [0x81, 0x83], None))).await;
            for servers in [[failing, right], [broken, right]] {
                assert_eq!(look_up(&servers).await.map(|found| found.len()), Ok(1));
            }
            assert_eq!(look_up(&[nobody]).await, Ok(Vec::new()));
            let output = look_up(&[failing]).await.unwrap_err();
            assert!(
                output.contains("SERVFAIL") && output.contains(&failing.to_string()),
                "{output}"
            );
            let output = look_up(&[broken]).await.unwrap_err();
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
                let mut asked = [0; 512];
                let (length, from) = socket.recv_from(&mut asked).await.unwrap();
                let right = says(&asked[..length], [0x81, 0x80], Some([127, 0, 0, 9]));
                let mut guess = says(&asked[..length], [0x81, 0x80], Some([127, 0, 0, 66]));
                guess[0] ^= 1;
                socket.send_to(&guess, from).await.unwrap();
                socket.send_to(b"", from).await.unwrap();
                socket.send_to(&right, from).await.unwrap();
            });
            assert_eq!(
                look_up(&[address]).await,
                Ok(vec!["127.0.0.9".parse().unwrap()])
            );
        });
    }
}
