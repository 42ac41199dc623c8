use std::pin::Pin;
use std::task::{Context, Waker};

use plimsoll_units::Moment;
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

    /// Asked right after a write: when its last byte was accepted by the
    /// kernel. `None` if it is queued only; then [`Wire::sent_at`] tells later.
    #[inline]
    fn written_at(&self) -> Option<Moment> {
        Some(plimsoll_clock::now())
    }

    /// When the last byte of a queued write was accepted, if that is known.
    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        None
    }

    /// Asked right after a read: when its bytes were there.
    #[inline]
    fn read_at(&self) -> Moment {
        plimsoll_clock::now()
    }
}

/// For scripted peers in memory.
impl Wire for DuplexStream {}
