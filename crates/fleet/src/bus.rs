//! The connection to a NATS server, on a thread of its own.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use async_nats::{Client, ConnectOptions, Subscriber};
use futures_util::StreamExt as _;
use futures_util::stream::{SelectAll, select_all};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// The longest time that connecting may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// A NATS server and the credentials for it.
#[derive(Clone)]
pub struct Server {
    /// Its address: `nats://host:4222`, or `tls://host:4222`.
    pub address: String,
    /// The user's name, if the address has none.
    pub user: &'static str,
    /// The user's password, if the server requires one.
    pub password: Option<String>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("user", &self.user).finish()
    }
}

/// What arrives from the server.
pub enum Delivery {
    /// A message with this subject.
    Message { subject: String, bytes: Vec<u8> },
    /// A message could not be sent and is lost.
    Unsent(String),
}

/// A connection to a server. Sending does not block.
pub struct Bus {
    outgoing: Option<UnboundedSender<(String, Vec<u8>)>>,
    thread: Option<JoinHandle<()>>,
}

impl Bus {
    /// Connects, and subscribes to these subjects. `deliver` is called on the bus's thread.
    ///
    /// # Errors
    /// If the server cannot be reached or refuses the connection.
    pub fn connect(
        server: &Server,
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
                runtime.block_on(async move {
                    match open(&server, subjects).await {
                        Ok((client, incoming)) => {
                            let _ = ready.send(Ok(()));
                            carry(client, incoming, messages, deliver).await;
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
        match is_ready.recv_timeout(PATIENCE + Duration::from_secs(5)) {
            Ok(connected) => connected.map(|()| bus),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                Err("the NATS server does not respond".to_owned())
            }
        }
    }

    /// Sends a message.
    pub fn send(&self, subject: &str, bytes: Vec<u8>) {
        if let Some(outgoing) = &self.outgoing {
            // Without a thread there is nobody to send to; the other side notices the silence.
            let _ = outgoing.send((subject.to_owned(), bytes));
        }
    }
}

impl Drop for Bus {
    /// Sends what is left.
    fn drop(&mut self) {
        self.outgoing = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn open(
    server: &Server,
    subjects: Vec<String>,
) -> Result<(Client, SelectAll<Subscriber>), String> {
    let mut options = ConnectOptions::new()
        .name("plimsoll")
        .connection_timeout(PATIENCE);
    if let Some(password) = &server.password {
        options = options.user_and_password(server.user.to_owned(), password.clone());
    }
    let connecting = tokio::time::timeout(PATIENCE, options.connect(server.address.as_str()));
    let client = match connecting.await {
        Ok(connected) => connected.map_err(|error| error.to_string())?,
        Err(_) => return Err("the NATS server does not respond".to_owned()),
    };
    let mut incoming = Vec::new();
    for subject in subjects {
        let subscribed = client.subscribe(subject).await;
        incoming.push(subscribed.map_err(|error| error.to_string())?);
    }
    // The server has all subscriptions when it has everything that was sent.
    client.flush().await.map_err(|error| error.to_string())?;
    Ok((client, select_all(incoming)))
}

async fn carry(
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
                    // The last messages, unless the server is gone.
                    let _ = tokio::time::timeout(Duration::from_secs(2), client.flush()).await;
                    return;
                }
            },
        }
    }
}
