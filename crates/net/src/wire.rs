use std::pin::Pin;
use std::task::{Context, Waker};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// A byte stream that a protocol can run on.
pub trait Wire: AsyncRead + AsyncWrite + Unpin {
    /// Whether something has arrived while nothing was asked for: the peer
    /// closed, or speaks out of turn. An idle stream of which this is true is
    /// of no more use.
    fn is_disturbed(&mut self) -> bool {
        let mut byte = [0];
        let mut buf = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(self).poll_read(&mut cx, &mut buf).is_ready()
    }
}

/// For scripted peers in memory.
impl Wire for DuplexStream {}
