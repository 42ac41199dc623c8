use std::pin::Pin;
use std::task::{Context, Waker};

use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// A byte stream under a protocol.
pub trait Wire: AsyncRead + AsyncWrite + Unpin {
    /// Whether something arrived unexpectedly on an idle stream: the peer closed it or sent
    /// unsolicited bytes. Such a stream must not be reused.
    fn is_disturbed(&mut self) -> bool {
        let mut byte = [0];
        let mut buf = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(self).poll_read(&mut cx, &mut buf).is_ready()
    }

    /// Call right after a write: when the kernel accepted its last byte. `None` if it is only
    /// queued; [`Wire::sent_at`] returns the time later.
    #[inline]
    fn written_at(&self) -> Option<Moment> {
        Some(plimsoll_clock::now())
    }

    /// When the last byte of a queued write was accepted, if known.
    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        None
    }

    /// Call right after a read: when its bytes arrived.
    #[inline]
    fn read_at(&self) -> Moment {
        plimsoll_clock::now()
    }
}

/// For scripted peers in memory.
impl Wire for DuplexStream {}
