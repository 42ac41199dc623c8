//! A short measurement of the throughput of one TCP stream and of the round trip of a byte, through
//! a relay to our own sink or over loopback.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Time limit for all other steps.
const PATIENCE: Duration = Duration::from_secs(5);

/// The receiving side of a stream.
#[derive(Debug)]
pub struct Sink {
    listener: TcpListener,
    pub port: u16,
}

impl Sink {
    /// Opens a sink on any free port.
    ///
    /// # Errors
    /// The system's error.
    pub fn open() -> std::io::Result<Sink> {
        Sink::open_at(Ipv4Addr::LOCALHOST.into())
    }

    /// Opens a sink on any free port of an address.
    ///
    /// # Errors
    /// The system's error.
    pub fn open_at(address: IpAddr) -> std::io::Result<Sink> {
        let listener = TcpListener::bind((address, 0))?;
        let port = listener.local_addr()?.port();
        listener.set_nonblocking(true)?;
        Ok(Sink { listener, port })
    }

    /// Bits per second of one stream to this sink through `port`, measured for some time after the
    /// first byte was received. `None` if too little data arrives.
    ///
    /// # Errors
    /// The system's error.
    pub fn measure(&self, port: u16, counted: Duration) -> std::io::Result<Option<f64>> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        measure_while_sending(address, || self.receive(counted))
    }

    /// Bits per second of the stream that connects next, measured from its first byte. `None` if too
    /// little data arrives.
    ///
    /// # Errors
    /// The system's error.
    pub fn receive(&self, counted: Duration) -> std::io::Result<Option<f64>> {
        self.accept().and_then(|stream| count(stream, counted))
    }

    /// The round-trip time of a byte to this sink through `port`: the median of `times` measurements.
    ///
    /// # Errors
    /// The system's error.
    pub fn round_trip(&self, port: u16, times: usize) -> std::io::Result<Option<Duration>> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut near = TcpStream::connect_timeout(&address, PATIENCE)?;
        near.set_read_timeout(Some(PATIENCE))?;
        near.set_nodelay(true)?;
        let mut far = self.accept()?;
        far.set_nodelay(true)?;
        let echo = std::thread::spawn(move || {
            let mut byte = [0; 1];
            while far.read_exact(&mut byte).is_ok() && far.write_all(&byte).is_ok() {}
        });
        let mut took = Vec::with_capacity(times);
        let mut byte = [0; 1];
        for _ in 0..times {
            let began = Instant::now();
            near.write_all(&byte)?;
            near.read_exact(&mut byte)?;
            took.push(began.elapsed());
        }
        drop(near);
        let _ = echo.join();
        took.sort_unstable();
        Ok(took.get(times / 2).copied())
    }

    fn accept(&self) -> std::io::Result<TcpStream> {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    return Ok(stream);
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock && Instant::now() < end => {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Sends a stream to a sink while the sink measures it.
///
/// # Errors
/// The system's error, or the error of the measurement.
pub fn measure_while_sending<T>(
    address: SocketAddr,
    measure: impl FnOnce() -> std::io::Result<T>,
) -> std::io::Result<T> {
    let stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let near = stream.try_clone()?;
    let writer = std::thread::spawn(move || fill(stream));
    let found = measure();
    // A peer that is still writing then detects that nobody reads.
    let _ = near.shutdown(Shutdown::Both);
    let _ = writer.join();
    found
}

/// Writes until the reader has closed the connection or a time limit is reached.
fn fill(mut stream: TcpStream) {
    let block = [0; 64 << 10];
    let end = Instant::now() + 2 * PATIENCE;
    while Instant::now() < end && stream.write_all(&block).is_ok() {}
}

fn count(mut stream: TcpStream, counted: Duration) -> std::io::Result<Option<f64>> {
    let mut block = vec![0; 256 << 10];
    // Bytes that arrive together were queued on the network path, so they do not show the rate.
    if stream.read(&mut block)? == 0 {
        return Ok(None);
    }
    let began = Instant::now();
    let mut bytes = 0_u64;
    loop {
        let read = stream.read(&mut block)?;
        bytes += read as u64;
        let took = began.elapsed();
        if read == 0 || took >= counted {
            let rate = bytes as f64 * 8.0 / took.as_secs_f64();
            return Ok((bytes > 0 && took > counted / 2).then_some(rate));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_of_loopback_is_measured() {
        let sink = Sink::open().unwrap();
        for _ in 0..2 {
            let rate = sink
                .measure(sink.port, Duration::from_millis(20))
                .unwrap()
                .unwrap();
            assert!(rate > 1e6, "{rate} bit/s");
        }
    }

    #[test]
    fn a_byte_makes_a_round_trip() {
        let sink = Sink::open().unwrap();
        let took = sink.round_trip(sink.port, 3).unwrap().unwrap();
        assert!(took > Duration::ZERO && took < PATIENCE, "{took:?}");
        assert_eq!(sink.round_trip(sink.port, 0).unwrap(), None);
    }

    #[test]
    fn a_closed_port_has_no_rate() {
        let sink = Sink::open().unwrap();
        let closed = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = closed.local_addr().unwrap().port();
        drop(closed);
        assert!(sink.measure(port, Duration::from_millis(20)).is_err());
    }
}
