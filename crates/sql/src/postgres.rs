//! PostgreSQL on a stream of the run's network.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::str::FromStr;
use std::task::{Context, Poll};

use plimsoll_net::{Alpn, Network, Steps, Stream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::config::Host;
use tokio_postgres::tls::{ChannelBinding, TlsConnect, TlsStream};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, Connection, SimpleQueryMessage};

use crate::connect_options::ConnectOptions;
use crate::postgres_value::{ColumnBytes, Placeholder, value};
use crate::value::{Changes, Rows, SqlValue};

const PORT: u16 = 5432;

/// The address of a database, with user and password.
#[derive(Clone)]
pub struct Server {
    config: Config,
    host: String,
    port: u16,
    accepts_any_certificate: bool,
}

impl Server {
    /// Parses `postgres://user:password@host:port/database?sslmode=disable`, or `host=… user=…`.
    pub fn parse(address: &str) -> Result<Server, String> {
        let known = address
            .replace("sslmode=verify-full", "sslmode=require")
            .replace("sslmode=verify-ca", "sslmode=require");
        // As in other clients, the other modes encrypt without verifying the server.
        let accepts_any_certificate = known == address;
        let wrong = |error: &dyn fmt::Display| {
            format!(
                "invalid address of a PostgreSQL database: {error}; write postgres://USER:PASSWORD@HOST:PORT/DATABASE"
            )
        };
        let config = Config::from_str(&known).map_err(|error| wrong(&error))?;
        let host = match config.get_hosts() {
            [] => "localhost".to_owned(),
            [Host::Tcp(host)] => host.clone(),
            [_] => return Err(wrong(&"unix sockets are not supported")),
            [..] => return Err(wrong(&"several hosts are not supported")),
        };
        if config.get_user().is_none() {
            return Err(wrong(&"it has no user"));
        }
        let port = config.get_ports().first().copied().unwrap_or(PORT);
        Ok(Server {
            config,
            host,
            port,
            accepts_any_certificate,
        })
    }

    /// Whether any server certificate is accepted.
    pub fn accepts_any_certificate(&self) -> bool {
        self.accepts_any_certificate
    }
}

/// An open connection. It makes progress only during calls, because the server sends nothing at other times.
pub struct Postgres {
    client: Client,
    connection: Pin<Box<Connection<Stream, EncryptedStream>>>,
    has_ended: bool,
}

impl Postgres {
    pub async fn open(server: &Server, options: &ConnectOptions) -> Result<Postgres, String> {
        let Server {
            config, host, port, ..
        } = server;
        let unreachable = |error: &dyn fmt::Display| {
            format!("cannot connect to PostgreSQL at {host}:{port}: {error}")
        };
        let mut steps = Steps::default();
        let dialed = options.network.dial(
            host,
            *port,
            options.local,
            &options.counter,
            true,
            &mut steps,
        );
        let stream = dialed.await.map_err(|error| unreachable(&error))?.stream;
        let tls = Secure {
            network: Rc::clone(&options.network),
            host: host.clone(),
        };
        let connected = config.connect_raw(stream, tls).await;
        let (client, connection) = connected.map_err(|error| unreachable(&explain(&error)))?;
        Ok(Postgres {
            client,
            connection: Box::pin(connection),
            has_ended: false,
        })
    }

    /// Whether the connection is open.
    pub fn is_usable(&self) -> bool {
        !self.has_ended && !self.client.is_closed()
    }

    pub async fn query(&mut self, text: &str, values: Vec<SqlValue>) -> Result<Rows, String> {
        let values: Vec<Placeholder> = values.into_iter().map(Placeholder).collect();
        let values: Vec<&(dyn ToSql + Sync)> = values
            .iter()
            .map(|value| value as &(dyn ToSql + Sync))
            .collect();
        let (client, connection) = (&self.client, self.connection.as_mut());
        let work = async {
            let statement = client.prepare(text).await?;
            let found = client.query(&statement, &values).await?;
            Ok::<_, tokio_postgres::Error>((statement, found))
        };
        let (statement, found) = drive(connection, &mut self.has_ended, work).await?;
        let columns = statement.columns();
        let mut rows = Vec::with_capacity(found.len());
        for row in &found {
            let taken = columns.iter().enumerate().map(|(at, column)| {
                let raw: Option<ColumnBytes<'_>> =
                    row.try_get(at).map_err(|error| explain(&error))?;
                match raw {
                    None => Ok(SqlValue::Null),
                    Some(raw) => value(column.type_(), raw.0)
                        .map_err(|error| format!("column {}: {error}", column.name())),
                }
            });
            rows.push(taken.collect::<Result<Vec<_>, String>>()?);
        }
        let columns = columns.iter().map(|column| column.name().to_owned());
        Ok(Rows {
            columns: columns.collect(),
            rows,
        })
    }

    pub async fn execute(&mut self, text: &str, values: Vec<SqlValue>) -> Result<Changes, String> {
        let (client, connection) = (&self.client, self.connection.as_mut());
        let ended = &mut self.has_ended;
        let rows = if values.is_empty() {
            // Only this protocol accepts several statements.
            let messages = drive(connection, ended, client.simple_query(text)).await?;
            let counts = messages.iter().map(|message| match message {
                SimpleQueryMessage::CommandComplete(count) => *count,
                _ => 0,
            });
            counts.sum()
        } else {
            let values: Vec<Placeholder> = values.into_iter().map(Placeholder).collect();
            let values: Vec<&(dyn ToSql + Sync)> = values
                .iter()
                .map(|value| value as &(dyn ToSql + Sync))
                .collect();
            drive(connection, ended, client.execute(text, &values)).await?
        };
        Ok(Changes {
            rows,
            last_id: None,
        })
    }
}

/// Runs `work` while the connection transfers its messages.
async fn drive<T>(
    mut connection: Pin<&mut Connection<Stream, EncryptedStream>>,
    has_ended: &mut bool,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, String> {
    let mut work = pin!(work);
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(done.map_err(|error| explain(&error)));
        }
        if *has_ended {
            return Poll::Ready(Err("the database closed the connection".to_owned()));
        }
        match connection.as_mut().poll(cx) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(ended) => {
                *has_ended = true;
                // The response may have arrived before the connection ended.
                if let Poll::Ready(done) = work.as_mut().poll(cx) {
                    return Poll::Ready(done.map_err(|error| explain(&error)));
                }
                Poll::Ready(Err(match ended {
                    Ok(()) => "the database closed the connection".to_owned(),
                    Err(error) => explain(&error),
                }))
            }
        }
    })
    .await
}

/// The database's own error message if there is one, in the format of psql.
fn explain(error: &tokio_postgres::Error) -> String {
    if let Some(error) = error.as_db_error() {
        return format!(
            "{}: {} ({})",
            error.severity(),
            error.message(),
            error.code().code()
        );
    }
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// The TLS handshake for a server that accepts TLS.
struct Secure {
    network: Rc<Network>,
    host: String,
}

impl TlsConnect<Stream> for Secure {
    type Stream = EncryptedStream;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<EncryptedStream>>>>;

    fn connect(self, stream: Stream) -> Self::Future {
        Box::pin(async move {
            let mut steps = Steps::default();
            let secured = self
                .network
                .secure(stream, &self.host, Alpn::None, &mut steps);
            match secured.await {
                Ok((stream, _)) => Ok(EncryptedStream(stream)),
                Err(error) => Err(io::Error::other(error.to_string())),
            }
        })
    }
}

/// A stream with TLS.
struct EncryptedStream(Stream);

impl TlsStream for EncryptedStream {
    fn channel_binding(&self) -> ChannelBinding {
        ChannelBinding::none()
    }
}

impl AsyncRead for EncryptedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for EncryptedStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}
