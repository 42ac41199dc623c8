//! The connection to a NATS server, on a separate thread.

use std::io::Write as _;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Subscriber};
use futures_util::StreamExt as _;
use futures_util::stream::{SelectAll, select_all};
use tempfile::NamedTempFile;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::access::Access;

/// Maximum time for connecting.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum time for one attempt to connect.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// The pause between attempts to reconnect.
const RECONNECT_PAUSE: Duration = Duration::from_millis(200);

/// What arrives from the server.
pub enum Delivery {
    Message {
        subject: String,
        bytes: Vec<u8>,
    },
    /// A message could not be sent and is lost.
    Unsent(String),
}

/// A connection to a server. Sending does not block.
pub struct Bus {
    outgoing: Option<UnboundedSender<(String, Vec<u8>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Bus {
    /// Connects, and subscribes to these subjects. Calls `deliver` on the bus's thread.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the connection.
    pub fn connect(
        server: &Access,
        subjects: Vec<String>,
        deliver: impl Fn(Delivery) + Send + 'static,
    ) -> Result<Bus, String> {
        let (outgoing, messages) = unbounded_channel();
        let (ready, is_ready) = channel();
        let server = server.clone();
        let thread = std::thread::Builder::new()
            .name("fleet-bus".to_owned())
            .spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread()
                    .enable_all()
                    .build();
                let runtime = match runtime {
                    Ok(runtime) => runtime,
                    Err(error) => {
                        let _ = ready.send(Err(error.to_string()));
                        return;
                    }
                };
                // The client reads this field whenever it connects.
                let ca = match server.ca.as_deref().map(file_of).transpose() {
                    Ok(ca) => ca,
                    Err(error) => {
                        let _ = ready.send(Err(error.to_string()));
                        return;
                    }
                };
                runtime.block_on(async move {
                    match open(&server, ca.as_ref(), subjects).await {
                        Ok((client, incoming)) => {
                            let _ = ready.send(Ok(()));
                            transfer(client, incoming, messages, deliver).await;
                        }
                        Err(error) => {
                            let _ = ready.send(Err(error));
                        }
                    }
                });
            })
            .map_err(|error| format!("could not start a thread: {error}"))?;
        let bus = Bus {
            outgoing: Some(outgoing),
            thread: Some(thread),
        };
        match is_ready.recv_timeout(TIMEOUT + Duration::from_secs(5)) {
            Ok(connected) => connected.map(|()| bus),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err("the NATS server does not respond".to_owned())
            }
        }
    }

    /// Sends a message.
    pub fn send(&self, subject: &str, bytes: Vec<u8>) {
        if let Some(outgoing) = &self.outgoing {
            // If the thread is gone, nobody can send. The other side notices the silence.
            let _ = outgoing.send((subject.to_owned(), bytes));
        }
    }
}

impl Drop for Bus {
    /// Sends the remaining messages.
    fn drop(&mut self) {
        self.outgoing = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn file_of(text: &str) -> std::io::Result<NamedTempFile> {
    let mut file = NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

async fn open(
    server: &Access,
    ca: Option<&NamedTempFile>,
    subjects: Vec<String>,
) -> Result<(Client, SelectAll<Subscriber>), String> {
    let mut options = ConnectOptions::new()
        .name("plimsoll")
        .connection_timeout(CONNECT_TIMEOUT)
        // A side that is silent for too long counts as lost, so reconnect soon.
        .reconnect_delay_callback(|attempts| match attempts {
            0 | 1 => Duration::ZERO,
            _ => RECONNECT_PAUSE,
        });
    if let Some(password) = &server.password {
        options = options.user_and_password(server.user.clone(), password.clone());
    }
    if let Some(ca) = ca {
        options = options
            .add_root_certificates(ca.path().to_owned())
            .require_tls(true);
    }
    let connecting = tokio::time::timeout(TIMEOUT, options.connect(server.address.as_str()));
    let client = match connecting.await {
        Ok(connected) => connected.map_err(|error| error.to_string())?,
        Err(_) => return Err("the NATS server does not respond".to_owned()),
    };
    let mut incoming = Vec::new();
    for subject in subjects {
        let subscribed = client.subscribe(subject).await;
        incoming.push(subscribed.map_err(|error| error.to_string())?);
    }
    // The server handles messages in order, so a flush confirms the subscriptions.
    client.flush().await.map_err(|error| error.to_string())?;
    Ok((client, select_all(incoming)))
}

async fn transfer(
    client: Client,
    mut incoming: SelectAll<Subscriber>,
    mut outgoing: UnboundedReceiver<(String, Vec<u8>)>,
    deliver: impl Fn(Delivery),
) {
    loop {
        tokio::select! {
            message = incoming.next() => match message {
                Some(message) => deliver(Delivery::Message {
                    subject: message.subject.to_string(),
                    bytes: message.payload.to_vec(),
                }),
                None => return,
            },
            message = outgoing.recv() => match message {
                Some((subject, bytes)) => {
                    let length = bytes.len();
                    if let Err(error) = client.publish(subject, bytes.into()).await {
                        deliver(Delivery::Unsent(format!(
                            "a message of {length} bytes could not be sent: {error}"
                        )));
                    }
                }
                None => {
                    // Sends the last messages, unless the server is gone.
                    let _ = tokio::time::timeout(Duration::from_secs(2), client.flush()).await;
                    return;
                }
            },
        }
    }
}
