//! Messages from a server other than responses: settings and GOAWAY.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::task::{Context, Waker};

use quinn::{RecvStream, VarInt};

use crate::fault::{GENERAL_PROTOCOL_ERROR, STREAM_CREATION_ERROR};
use crate::frames::{Frames, GOAWAY, MAX_PUSH_ID, Piece, SETTINGS, head};
use crate::varint;

/// Types of unidirectional streams (RFC 9114, section 6.2, and RFC 9204, section 4.2).
const CONTROL: u64 = 0x0;
const PUSH: u64 = 0x1;
const ENCODER: u64 = 0x2;
const DECODER: u64 = 0x3;

/// The longest header that we read (RFC 9114, section 7.2.4.1).
const MAX_FIELD_SECTION_SIZE: u64 = 0x6;

/// The state of a connection, without its requests.
#[derive(Debug, Default)]
pub(crate) struct State {
    /// Requests on this stream and later streams were not processed.
    goaway: Cell<Option<u64>>,
    /// The server's violation of the protocol.
    pub(crate) violation: RefCell<Option<String>>,
    /// The tasks to wake, by the stream that each waits for.
    waiting: RefCell<Vec<(u64, Waker)>>,
}

impl State {
    pub(crate) fn is_going_away(&self) -> bool {
        self.goaway.get().is_some()
    }

    /// Whether the server has stated that it did not process the request on `stream`.
    pub(crate) fn was_not_processed(&self, stream: u64) -> bool {
        self.goaway.get().is_some_and(|first| stream >= first)
    }

    /// Wakes the task when that may have changed.
    pub(crate) fn wait(&self, stream: u64, cx: &Context<'_>) {
        let mut waiting = self.waiting.borrow_mut();
        match waiting.iter_mut().find(|(known, _)| *known == stream) {
            Some((_, waker)) => waker.clone_from(cx.waker()),
            None => waiting.push((stream, cx.waker().clone())),
        }
    }

    pub(crate) fn forget(&self, stream: u64) {
        self.waiting
            .borrow_mut()
            .retain(|(known, _)| *known != stream);
    }

    /// Stores the server's violation of the protocol, and closes the connection.
    pub(crate) fn violated(&self, connection: &quinn::Connection, how: String) {
        connection.close(
            VarInt::from_u32(GENERAL_PROTOCOL_ERROR as u32),
            how.as_bytes(),
        );
        self.violation.borrow_mut().get_or_insert(how);
    }
}

/// The first bytes of our own control stream.
pub(crate) fn first_control_bytes() -> Vec<u8> {
    let mut settings = Vec::new();
    varint::write(&mut settings, MAX_FIELD_SECTION_SIZE);
    varint::write(&mut settings, crate::qpack::MAX_HEAD as u64);
    let mut out = Vec::new();
    varint::write(&mut out, CONTROL);
    head(&mut out, SETTINGS, settings.len());
    out.extend_from_slice(&settings);
    out
}

/// Reads the server's unidirectional streams until the connection ends.
pub(crate) async fn listen(connection: quinn::Connection, state: Rc<State>) {
    // The transport limits how many of them there can be at once.
    while let Ok(stream) = connection.accept_uni().await {
        let (connection, state) = (connection.clone(), Rc::clone(&state));
        tokio::task::spawn_local(async move {
            if let Err(how) = read(stream, &state).await {
                state.violated(&connection, how);
            }
        });
    }
}

async fn read(mut stream: RecvStream, state: &State) -> Result<(), String> {
    let mut reader = Reader::default();
    while let Some(chunk) = next(&mut stream).await {
        match reader.read(chunk)? {
            Event::Nothing => {}
            Event::GoAway(first) => {
                state.goaway.set(Some(first));
                let waiting = std::mem::take(&mut *state.waiting.borrow_mut());
                waiting.into_iter().for_each(|(_, waker)| waker.wake());
            }
            Event::UnknownStream => {
                let _ = stream.stop(VarInt::from_u32(STREAM_CREATION_ERROR as u32));
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Reads one of the server's unidirectional streams, in pieces.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The first bytes, while the stream's type is not complete.
    start: Vec<u8>,
    kind: Option<u64>,
    frames: Frames,
    has_settings: bool,
}

/// The content of one piece of a unidirectional stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    Nothing,
    /// The server will not process requests on this stream and later ones.
    GoAway(u64),
    /// The type of the stream is unknown, so the rest of it is not read.
    UnknownStream,
}

impl Reader {
    /// Reads the next piece. If GOAWAY frames contain several numbers, the last one counts.
    pub(crate) fn read(&mut self, mut input: bytes::Bytes) -> Result<Event, String> {
        let kind = match self.kind {
            Some(kind) => kind,
            None => {
                self.start.extend_from_slice(&input);
                let Some((kind, used)) = varint::read(&self.start) else {
                    return Ok(Event::Nothing);
                };
                input = self.start.split_off(used).into();
                self.kind = Some(kind);
                kind
            }
        };
        match kind {
            CONTROL => self.read_control(input),
            PUSH => Err("the server opened a push stream, which was not requested".to_owned()),
            // Without a dynamic table these streams contain no instructions.
            ENCODER | DECODER => Ok(Event::Nothing),
            _ => Ok(Event::UnknownStream),
        }
    }

    fn read_control(&mut self, mut input: bytes::Bytes) -> Result<Event, String> {
        let mut event = Event::Nothing;
        while let Some(piece) = self.frames.next(&mut input)? {
            match piece {
                Piece::Whole(SETTINGS, _) if !self.has_settings => self.has_settings = true,
                _ if !self.has_settings => {
                    return Err("the control stream does not begin with SETTINGS".to_owned());
                }
                Piece::Whole(GOAWAY, id) => {
                    let (first, _) =
                        varint::read(&id).ok_or("a GOAWAY frame without its number")?;
                    event = Event::GoAway(first);
                }
                Piece::Whole(crate::frames::CANCEL_PUSH, _) => {}
                Piece::Whole(MAX_PUSH_ID, _) => {
                    return Err("the server sent MAX_PUSH_ID, which only clients send".to_owned());
                }
                Piece::Whole(..) | Piece::Data(_) => {
                    return Err("a frame that is not allowed on the control stream".to_owned());
                }
            }
        }
        Ok(event)
    }
}

/// The next bytes, or `None` at the end of the stream, whatever the reason.
async fn next(stream: &mut RecvStream) -> Option<bytes::Bytes> {
    let chunk = stream.read_chunk(usize::MAX, true).await;
    chunk.ok().flatten().map(|chunk| chunk.bytes)
}
