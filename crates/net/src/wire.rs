use std::pin::Pin;
use std::task::{Context, Waker};

use plimsoll_units::Moment;
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

/// The byte stream that a protocol uses.
pub trait Wire: AsyncRead + AsyncWrite + Unpin {
    /// Whether something unexpected happened on an idle stream: the peer closed it or sent unsolicited
    /// bytes. Such a stream must not be reused.
    fn is_disturbed(&mut self) -> bool {
        let mut byte = [0];
        let mut buf = ReadBuf::new(&mut byte);
        let mut cx = Context::from_waker(Waker::noop());
        Pin::new(self).poll_read(&mut cx, &mut buf).is_ready()
    }

    /// When the kernel accepted the last byte of a write. Call it immediately after the write. `None`
    /// if the write is only queued; [`Wire::sent_at`] returns the time later.
    #[inline]
    fn written_at(&self) -> Option<Moment> {
        Some(plimsoll_clock::now())
    }

    /// When the kernel accepted the last byte of a queued write, if known.
    #[inline]
    fn sent_at(&self) -> Option<Moment> {
        None
    }

    /// When the bytes of a read arrived. Call it immediately after the read.
    #[inline]
    fn read_at(&self) -> Moment {
        plimsoll_clock::now()
    }
}

/// For simulated peers in memory.
impl Wire for DuplexStream {}
