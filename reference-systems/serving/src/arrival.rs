//! Closes a client's connection in a way that lets the client read the last response.
//!
//! If a socket is closed while it has unread bytes, the kernel sends a reset. A client that gets
//! the reset before it has read the response loses the response, for example an error that the
//! body is too large. So the close has two steps, as RFC 9112, section 9.6, requires: the server stops
//! sending, and then discards arriving data for a while.

use std::io::{self, IoSlice};
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

/// Maximum time for which data is discarded.
const LINGER: Duration = Duration::from_secs(1);

/// Maximum amount of discarded data, in bytes.
const MAX_DISCARDED: usize = 64 << 20;

/// An accepted connection.
pub struct Arrival {
    stream: TcpStream,
    ending: Option<Ending>,
}

/// The time for which further data is discarded.
struct Ending {
    until: Pin<Box<Sleep>>,
    left: usize,
}

impl Arrival {
    pub fn new(stream: TcpStream) -> Arrival {
        Arrival {
            stream,
            ending: None,
        }
    }

    /// The client's address.
    pub fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.stream.peer_addr()
    }
}

impl AsyncRead for Arrival {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Arrival {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Arrival { stream, ending } = self.get_mut();
        let ending = match ending {
            Some(ending) => ending,
            None => {
                ready!(Pin::new(&mut *stream).poll_shutdown(context))?;
                ending.insert(Ending {
                    until: Box::pin(sleep(LINGER)),
                    left: MAX_DISCARDED,
                })
            }
        };
        let mut bin = [0; 16 << 10];
        loop {
            let mut buffer = ReadBuf::new(&mut bin);
            match Pin::new(&mut *stream).poll_read(context, &mut buffer) {
                Poll::Pending => return ending.until.as_mut().poll(context).map(Ok),
                // The client is gone, so nobody will read a response.
                Poll::Ready(Err(_)) => return Poll::Ready(Ok(())),
                Poll::Ready(Ok(())) => {}
            }
            ending.left = ending.left.saturating_sub(buffer.filled().len());
            if buffer.filled().is_empty() || ending.left == 0 {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (TcpStream, Arrival) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        (client.unwrap(), Arrival::new(accepted.unwrap().0))
    }

    #[tokio::test]
    async fn a_response_before_the_body_is_read_is_not_lost() {
        let (mut client, mut server) = pair().await;
        let serving = tokio::spawn(async move {
            server.write_all(b"too large").await.unwrap();
            server.shutdown().await.unwrap();
        });
        // More than the buffers of both sockets can hold.
        client.write_all(&vec![b' '; 32 << 20]).await.unwrap();
        client.shutdown().await.unwrap();
        let mut received = String::new();
        client.read_to_string(&mut received).await.unwrap();
        assert_eq!(received, "too large");
        serving.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_never_disconnects_is_closed_at_the_end() {
        let (client, mut server) = pair().await;
        let started = tokio::time::Instant::now();
        server.shutdown().await.unwrap();
        assert_eq!(started.elapsed().as_secs(), LINGER.as_secs());
        drop(client);
    }
}
