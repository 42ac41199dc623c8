//! The connection of a `WebSocket` object. The user's event loop drives it.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll};
use std::time::Duration;

use plimsoll_http::{Alarm, BudgetShare};
use plimsoll_net::Stream;
use plimsoll_units::Moment;
use plimsoll_ws::{Connection, Ended, Error, Event, Kind, code};

use super::closing::{linger, part};
use super::dial::Dial;
use super::messages;
use super::session::Session;
use crate::modules::backlog::Backlog;
use crate::user::User;

/// Maximum number of events that wait for the script. While there are more, nothing is read from the connection.
const MAX_UNPROCESSED: usize = 64;

/// The maximum time to wait for the server's close frame after this side has sent one. A server that keeps sending, or
/// reads nothing, may never send one.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

/// The connection states with the numbers of the HTML standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadyState {
    Connecting = 0,
    Open = 1,
    Closing = 2,
    Closed = 3,
}

/// A close frame to send.
#[derive(Clone, Debug)]
pub struct CloseRequest {
    pub code: u16,
    pub reason: String,
}

enum Outgoing {
    Message(Kind, Vec<u8>),
    Ping,
}

/// Events for the script, delivered in order and one at a time.
#[derive(Debug)]
pub enum SocketEvent {
    Open,
    Text(String, Option<BudgetShare>),
    Binary(Vec<u8>, Option<BudgetShare>),
    Ping,
    Pong,
    /// The last event: the error, if any, and the close frame, if one was received.
    Over {
        error: Option<String>,
        close: Option<(u16, String)>,
    },
}

/// One connection. The script queues messages, and the event loop sends and receives them.
pub struct Link {
    pub state: Cell<ReadyState>,
    pub protocol: RefCell<String>,
    pub extensions: RefCell<String>,
    pub session: Session,
    connection: RefCell<Option<Connection<Stream>>>,
    backlog: Backlog,
    /// Bytes of messages passed to the stream since it was last empty.
    buffered: Cell<usize>,
    /// Messages to be compressed, and control frames that must stay in order after them.
    outgoing: RefCell<Vec<Outgoing>>,
    /// The close frame to send after everything else, once the connection is open.
    close_request: RefCell<Option<CloseRequest>>,
    /// When to stop waiting for the server's close frame. Set once this side's close frame is queued.
    close_deadline: Cell<Option<Moment>>,
    close_alarm: RefCell<Alarm>,
}

/// The next step of a connection.
enum Step {
    Event(Result<Event, Error>),
    /// The server did not send a close frame in time.
    CloseTimedOut,
    /// A handler threw an exception.
    HandlerFailed,
}

impl Link {
    pub fn new(session: Session) -> Link {
        Link {
            state: Cell::new(ReadyState::Connecting),
            protocol: RefCell::default(),
            extensions: RefCell::default(),
            session,
            connection: RefCell::default(),
            backlog: Backlog::new(MAX_UNPROCESSED),
            buffered: Cell::new(0),
            outgoing: RefCell::default(),
            close_request: RefCell::default(),
            close_deadline: Cell::new(None),
            close_alarm: RefCell::default(),
        }
    }

    // The methods for the script.

    /// Queues a message. As in k6 and in browsers (HTML, "close in progress"), the message is dropped if the server has
    /// closed the connection and the script has not been notified yet.
    ///
    /// # Errors
    /// If the state is not open.
    pub fn send(&self, kind: Kind, payload: &[u8]) -> Result<(), Ended> {
        if self.state.get() != ReadyState::Open {
            return Err(Ended);
        }
        match &mut *self.connection.borrow_mut() {
            // The server has closed the connection. The script will be notified next.
            Some(connection) if connection.is_closing() => return Ok(()),
            Some(connection) if connection.compresses() => {
                let message = Outgoing::Message(kind, payload.to_vec());
                self.outgoing.borrow_mut().push(message);
            }
            Some(connection) => connection.send(kind, payload)?,
            None => return Ok(()),
        }
        self.buffered.set(self.buffered.get() + payload.len());
        self.session.sent(payload.len());
        self.backlog.wake();
        Ok(())
    }

    /// Queues a ping under the same conditions as a message.
    ///
    /// # Errors
    /// If the state is not open.
    pub fn ping(&self) -> Result<(), Ended> {
        if self.state.get() != ReadyState::Open {
            return Err(Ended);
        }
        match &mut *self.connection.borrow_mut() {
            Some(connection) if connection.is_closing() => return Ok(()),
            Some(connection) if connection.compresses() => {
                self.outgoing.borrow_mut().push(Outgoing::Ping);
            }
            Some(connection) => connection.ping(self.session.ping().as_bytes())?,
            None => return Ok(()),
        }
        // As in k6, this module counts the script's pings and close frames as messages, unlike `k6/ws`.
        self.session.sent_control();
        self.backlog.wake();
        Ok(())
    }

    /// Starts the closing handshake. The close event follows once the server has closed, too.
    pub fn close(&self, close_request: CloseRequest) {
        if matches!(self.state.get(), ReadyState::Connecting | ReadyState::Open) {
            *self.close_request.borrow_mut() = Some(close_request);
            self.state.set(ReadyState::Closing);
            self.backlog.wake();
        }
    }

    /// Closes the connection immediately, because a handler threw an exception.
    pub fn break_off(&self) {
        self.state.set(ReadyState::Closed);
        part(self.connection.take());
        self.backlog.wake();
    }

    pub fn buffered(&self) -> usize {
        self.buffered.get()
    }

    /// Called when the script has processed an event.
    pub fn processed(&self) {
        self.backlog.processed();
    }

    // The methods for the event loop.

    /// Opens the connection and drives it until it ends. `tell` receives all events for the script.
    pub async fn drive(self: Rc<Link>, user: Rc<User>, dial: Dial, tell: impl Fn(SocketEvent)) {
        let Some(work) = user.work() else { return };
        let opened = dial.open(work).await;
        self.session.opened(&opened);
        let socket = match opened.map(|opened| opened.outcome) {
            Ok(Ok(socket)) => *socket,
            Ok(Err(rejected)) => return tell(failed(messages::rejected(&rejected))),
            Err(malformed) => return tell(failed(malformed)),
        };
        *self.protocol.borrow_mut() = socket.agreed.protocol;
        *self.extensions.borrow_mut() = socket.agreed.extensions;
        *self.connection.borrow_mut() = Some(socket.connection);
        self.pass_on(&tell, SocketEvent::Open);
        loop {
            let event = match poll_fn(|cx| self.poll(cx)).await {
                Step::HandlerFailed => return,
                // As in browsers, this is not an error: the script has closed the connection.
                Step::CloseTimedOut => {
                    self.connection.take();
                    SocketEvent::Over {
                        error: None,
                        close: Some((code::ABNORMAL, String::new())),
                    }
                }
                Step::Event(Ok(event)) => self.event_of(event),
                Step::Event(Err(error)) => {
                    let (text, code, reason) = messages::broken(&error);
                    SocketEvent::Over {
                        error: Some(text),
                        close: Some((code, reason)),
                    }
                }
            };
            let is_over = matches!(event, SocketEvent::Over { .. });
            self.pass_on(&tell, event);
            if is_over {
                if let Some(connection) = self.connection.take() {
                    tokio::task::spawn_local(linger(connection));
                }
                return;
            }
        }
    }

    fn pass_on(&self, tell: &impl Fn(SocketEvent), event: SocketEvent) {
        self.backlog.add();
        tell(event);
    }

    /// The share of the budget for decompressed data that the last message uses.
    fn share(&self) -> Option<BudgetShare> {
        let mut connection = self.connection.borrow_mut();
        connection.as_mut().and_then(Connection::take_share)
    }

    fn event_of(&self, event: Event) -> SocketEvent {
        match event {
            Event::Text(text) => SocketEvent::Text(text, self.share()),
            Event::Binary(bytes) => SocketEvent::Binary(bytes, self.share()),
            Event::Ping(_) => SocketEvent::Ping,
            Event::Pong(payload) => {
                self.session.pong(&payload);
                SocketEvent::Pong
            }
            Event::Close(frame) => {
                let expected = messages::is_expected(frame.code);
                SocketEvent::Over {
                    error: (!expected).then(|| messages::closed(frame.code, &frame.reason)),
                    close: Some((frame.code, frame.reason)),
                }
            }
        }
    }

    /// Writes queued messages, and reads while the script's event queue has space.
    fn poll(&self, cx: &mut TaskContext<'_>) -> Poll<Step> {
        let mut connection = self.connection.borrow_mut();
        let Some(connection) = &mut *connection else {
            return Poll::Ready(Step::HandlerFailed);
        };
        self.backlog.set_driver(cx);
        // Messages are compressed here and not where the script sends them, because the script's stack is too small for
        // it.
        for outgoing in self.outgoing.take() {
            // The method that queued the message has checked the state.
            let _ = match outgoing {
                Outgoing::Message(kind, payload) => connection.send(kind, &payload),
                Outgoing::Ping => connection.ping(self.session.ping().as_bytes()),
            };
        }
        if let Some(close_request) = self.close_request.take() {
            connection.close(Some(close_request.code), &close_request.reason);
            self.session.sent_control();
            self.close_deadline
                .set(Some(plimsoll_clock::now() + CLOSE_TIMEOUT));
        }
        if let Some(deadline) = self.close_deadline.get()
            && self.close_alarm.borrow_mut().poll(cx, deadline).is_ready()
        {
            return Poll::Ready(Step::CloseTimedOut);
        }
        if connection.unsent() > 0 {
            // If the connection is broken, the read below reports that.
            let _ = connection.poll_flush(cx);
        }
        if connection.unsent() == 0 {
            self.buffered.set(0);
        }
        if self.backlog.is_full() {
            return Poll::Pending;
        }
        connection.poll_event(cx).map(Step::Event)
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // The iteration was stopped while the socket was open.
        part(self.connection.take());
    }
}

/// The event for a connection that could not be opened.
fn failed(text: String) -> SocketEvent {
    SocketEvent::Over {
        error: Some(text),
        close: None,
    }
}

impl Default for CloseRequest {
    fn default() -> Self {
        CloseRequest {
            code: code::NORMAL,
            reason: String::new(),
        }
    }
}
