//! Serves an attack's metrics to Prometheus during the attack.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use plimsoll_vegeta::Exposition;

/// Time limit for reading a request, and for sending the response.
const IO_TIMEOUT: Duration = Duration::from_secs(2);
/// Maximum length of a request in bytes.
const MAX_REQUEST_LENGTH: usize = 16 * 1024;

/// The page that Prometheus reads.
pub struct Page {
    pub figures: Arc<Mutex<Exposition>>,
    /// Its address, unless the system does not report it.
    pub address: Option<SocketAddr>,
}

/// Serves the metrics on `address`, for any path, until the process exits. Handles one request at a time.
///
/// # Errors
/// If it cannot listen on the address.
pub fn serve(address: &str) -> Result<Page, String> {
    let listener = TcpListener::bind(address).map_err(|error| {
        format!(
            "-prometheus-addr={address}: cannot listen on it: {error}; write it like 127.0.0.1:8880"
        )
    })?;
    let own = listener.local_addr().ok();
    let figures = Arc::<Mutex<Exposition>>::default();
    let shown = Arc::clone(&figures);
    std::thread::Builder::new()
        .name("metrics".to_owned())
        .spawn(move || {
            plimsoll_machine::run_in_background();
            for stream in listener.incoming().flatten() {
                // A client that disconnects or is too slow gets no response.
                let _ = respond(&stream, &shown);
            }
        })
        .map_err(|error| {
            format!(
                "could not start a thread for metrics: {}",
                plimsoll_machine::shortage::explain(&error)
            )
        })?;
    Ok(Page {
        figures,
        address: own,
    })
}

fn respond(mut stream: &TcpStream, figures: &Mutex<Exposition>) -> std::io::Result<()> {
    let deadline = plimsoll_clock::now() + IO_TIMEOUT;
    stream.set_read_timeout(Some(IO_TIMEOUT))?;
    stream.set_write_timeout(Some(IO_TIMEOUT))?;
    let mut head = Vec::new();
    let mut piece = [0; 1024];
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut piece)?;
        head.extend_from_slice(piece.get(..read).unwrap_or_default());
        if read == 0 || head.len() > MAX_REQUEST_LENGTH || plimsoll_clock::now() > deadline {
            return Ok(());
        }
    }
    let text = figures.lock().map(|figures| figures.render());
    let text = text.unwrap_or_default();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    )
}
