//! A relay in front of PostgreSQL that counts round trips on the wire: the frontend ends each with
//! a Sync or a Query and waits for the response (PostgreSQL, "Message Formats").

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::thread;

pub struct Relay {
    address: SocketAddr,
    trips: Arc<AtomicU64>,
}

impl Relay {
    /// Forwards the connections to its port. It ends with the test's process.
    pub fn start(to: SocketAddr) -> Relay {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let trips = Arc::new(AtomicU64::new(0));
        let counted = trips.clone();
        thread::spawn(move || {
            for client in listener.incoming() {
                let (client, trips) = (client.unwrap(), counted.clone());
                let server = TcpStream::connect(to).unwrap();
                // Small messages must not wait for acknowledgements.
                server.set_nodelay(true).unwrap();
                client.set_nodelay(true).unwrap();
                let (mut from, mut back) =
                    (server.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || {
                    let _ = io::copy(&mut from, &mut back);
                    let _ = back.shutdown(Shutdown::Both);
                });
                thread::spawn(move || {
                    let _ = pass(client, &server, &trips);
                    let _ = server.shutdown(Shutdown::Both);
                });
            }
        });
        Relay { address, trips }
    }

    /// The address of a database at `server`, through this relay.
    pub fn through(&self, database: &str, server: SocketAddr) -> String {
        database.replace(&server.to_string(), &self.address.to_string())
    }

    pub fn round_trips(&self) -> u64 {
        self.trips.load(SeqCst)
    }
}

fn pass(mut client: TcpStream, mut server: &TcpStream, trips: &AtomicU64) -> io::Result<()> {
    // The first message has no type.
    let mut message = body(&mut client, Vec::new())?;
    loop {
        server.write_all(&message)?;
        let mut kind = [0];
        client.read_exact(&mut kind)?;
        if matches!(kind[0], b'S' | b'Q') {
            trips.fetch_add(1, SeqCst);
        }
        message = body(&mut client, kind.to_vec())?;
    }
}

/// Reads the length field, which counts itself, and the rest of the message.
fn body(client: &mut TcpStream, mut message: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    message.extend(length);
    let rest = u32::from_be_bytes(length).saturating_sub(4) as usize;
    let begin = message.len();
    message.resize(begin + rest, 0);
    client.read_exact(&mut message[begin..])?;
    Ok(message)
}
