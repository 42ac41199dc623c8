//! A small hyper client for these tests: one connection, one request after another.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// A response, with its version of HTTP.
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    pub h2: bool,
}

/// A gRPC call's response.
pub struct GrpcReply {
    /// The code, as text.
    pub status: String,
    /// The encoded message; empty if there is none.
    pub message: Vec<u8>,
}

enum Sender {
    H1(http1::SendRequest<Full<Bytes>>),
    H2(http2::SendRequest<Full<Bytes>>),
}

/// One connection.
pub struct Client {
    runtime: Runtime,
    sender: Sender,
    authority: String,
}

impl Client {
    /// Connects to `place` (`https://127.0.0.1:1`), trusts the authority in `certificates`, and
    /// shows the client's certificate if `showing` is set. With `h2`, it uses HTTP/2: through ALPN
    /// with TLS, otherwise by prior knowledge.
    pub fn connect(place: &str, certificates: &str, showing: bool, h2: bool) -> Outcome<Client> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let (scheme, authority) = place.split_once("://").ok_or("no scheme")?;
        let sender = runtime.block_on(async {
            let stream = TcpStream::connect(authority).await?;
            if scheme == "http" {
                return start(stream, h2).await;
            }
            let mut config = trusting(certificates.as_ref(), showing)?;
            config.alpn_protocols = match h2 {
                true => vec![b"h2".to_vec(), b"http/1.1".to_vec()],
                false => vec![b"http/1.1".to_vec()],
            };
            let name = ServerName::try_from("localhost")?;
            let stream = TlsConnector::from(Arc::new(config))
                .connect(name, stream)
                .await?;
            let h2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            start(stream, h2).await
        })?;
        Ok(Client {
            runtime,
            sender,
            authority: authority.to_owned(),
        })
    }

    pub fn get(&mut self, path: &str) -> Outcome<Reply> {
        let request = Request::get(self.uri(path))
            .header("host", &self.authority)
            .body(Full::default())?;
        let (response, body, _) = self.send(request)?;
        Ok(Reply {
            status: response.status().as_u16(),
            body,
            h2: response.version() == Version::HTTP_2,
        })
    }

    /// Sends a body with this content type.
    pub fn post(&mut self, path: &str, kind: &str, body: &[u8]) -> Outcome<Reply> {
        let request = Request::post(self.uri(path))
            .header("host", &self.authority)
            .header("content-type", kind)
            .body(Full::new(body.to_vec().into()))?;
        let (response, body, _) = self.send(request)?;
        Ok(Reply {
            status: response.status().as_u16(),
            body,
            h2: response.version() == Version::HTTP_2,
        })
    }

    /// Calls a gRPC method with an encoded message.
    pub fn call(&mut self, path: &str, message: &[u8]) -> Outcome<GrpcReply> {
        // No compression, then the message's length (the gRPC protocol over HTTP/2).
        let length = u32::try_from(message.len())?.to_be_bytes();
        let framed = [&[0], &length[..], message].concat();
        let request = Request::post(self.uri(path))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(framed.into()))?;
        let (response, body, trailer) = self.send(request)?;
        let header = response
            .headers()
            .get("grpc-status")
            .and_then(|value| value.to_str().ok());
        let status = trailer
            .or(header.map(str::to_owned))
            .ok_or("no grpc-status")?;
        Ok(GrpcReply {
            status,
            message: body.get(5..).unwrap_or_default().to_vec(),
        })
    }

    fn uri(&self, path: &str) -> String {
        match self.sender {
            Sender::H1(_) => path.to_owned(),
            Sender::H2(_) => format!("http://{}{path}", self.authority),
        }
    }

    fn send(
        &mut self,
        request: Request<Full<Bytes>>,
    ) -> Outcome<(Response<()>, Vec<u8>, Option<String>)> {
        let sender = &mut self.sender;
        self.runtime.block_on(async {
            let response = tokio::time::timeout(Duration::from_secs(20), async {
                match sender {
                    Sender::H1(sender) => {
                        sender.ready().await?;
                        sender.send_request(request).await
                    }
                    Sender::H2(sender) => {
                        sender.ready().await?;
                        sender.send_request(request).await
                    }
                }
            });
            let (head, body) = response.await??.into_parts();
            let collected = body.collect().await?;
            let trailer = collected
                .trailers()
                .and_then(|trailers| trailers.get("grpc-status"));
            let trailer = trailer
                .and_then(|value| value.to_str().ok())
                .map(str::to_owned);
            Ok((
                Response::from_parts(head, ()),
                collected.to_bytes().to_vec(),
                trailer,
            ))
        })
    }
}

async fn start<S>(stream: S, h2: bool) -> Outcome<Sender>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let stream = TokioIo::new(stream);
    if h2 {
        let (sender, connection) = http2::handshake(TokioExecutor::new(), stream).await?;
        tokio::spawn(connection);
        Ok(Sender::H2(sender))
    } else {
        let (sender, connection) = http1::handshake(stream).await?;
        tokio::spawn(connection);
        Ok(Sender::H1(sender))
    }
}

fn trusting(certificates: &Path, showing: bool) -> Outcome<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificates.join("ca.pem"))?)?;
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(roots);
    Ok(if showing {
        let chain = vec![CertificateDer::from_pem_file(
            certificates.join("client.pem"),
        )?];
        config.with_client_auth_cert(
            chain,
            PrivateKeyDer::from_pem_file(certificates.join("client.key"))?,
        )?
    } else {
        config.with_no_client_auth()
    })
}
