//! Opens connections: through proxies, and with the HTTP version that is requested or negotiated.

use std::rc::Rc;

use plimsoll_net::{Alpn, Dialed, Steps, Stream, TlsFacts};

use crate::client::Client;
use crate::error::{ErrorInfo, code};
use crate::h1;
use crate::h2_connection;
#[cfg(feature = "http3")]
use crate::h3_connection;
use crate::multiplexed::Multiplexed;
use crate::pool::PooledConnection;
use crate::protocol::Protocol;
use crate::url::Url;

/// A new connection, by HTTP version.
pub(crate) enum Link {
    Own(Box<PooledConnection>),
    Shared(Rc<Multiplexed>),
}

impl Client {
    /// Opens a connection to the origin of `url`. `steps` records the completed steps.
    pub(crate) async fn connect(
        &self,
        url: &Url,
        protocol: Protocol,
        steps: &mut Steps,
    ) -> Result<Link, ErrorInfo> {
        if protocol == Protocol::Http3 {
            return Box::pin(self.connect_http3(url, steps)).await;
        }
        let network = &self.shared.network;
        let proxy = self.shared.settings.proxies.for_url(url);
        let (host, port) = match proxy {
            Some(proxy) => (proxy.host.as_str(), proxy.port),
            None => (url.host(), url.port()),
        };
        let secured = url.is_https() || proxy.is_some_and(|proxy| proxy.is_https);
        let Dialed { mut stream, remote } = network
            .dial(host, port, self.local_ip, &self.traffic, secured, steps)
            .await
            .map_err(|error| ErrorInfo::from(&error))?;
        if let Some(proxy) = proxy {
            if proxy.is_https {
                let secured = network.secure(stream, host, Alpn::Http1, steps).await;
                stream = secured.map_err(|error| ErrorInfo::from(&error))?.0;
            }
            if url.is_https() {
                proxy
                    .tunnel(&mut stream, url, &self.shared.settings.proxies)
                    .await?;
            }
        }
        let (stream, tls) = if url.is_https() {
            let alpn = match protocol {
                Protocol::Auto => Alpn::Http2OrHttp1,
                Protocol::Http1 => Alpn::Http1,
                Protocol::Http2 | Protocol::H2c | Protocol::Http3 => Alpn::Http2,
            };
            let (stream, facts) = network
                .secure(stream, url.host(), alpn, steps)
                .await
                .map_err(|error| ErrorInfo::from(&error))?;
            (stream, Some(facts))
        } else {
            (stream, None)
        };
        if speaks_http2(protocol, tls)? {
            let connection = h2_connection::Connection::start(stream, remote, tls);
            return Ok(Link::Shared(Rc::new(Multiplexed::Http2(connection))));
        }
        Ok(Link::Own(Box::new(PooledConnection {
            wire: h1::Connection::<Stream>::new(stream),
            remote,
            tls,
            out: Vec::new(),
        })))
    }

    #[cfg(not(feature = "http3"))]
    async fn connect_http3(&self, _: &Url, _: &mut Steps) -> Result<Link, ErrorInfo> {
        Err(ErrorInfo::new(code::H3, crate::NO_HTTP3))
    }

    /// Opens a QUIC connection directly to the server.
    #[cfg(feature = "http3")]
    async fn connect_http3(&self, url: &Url, steps: &mut Steps) -> Result<Link, ErrorInfo> {
        let refuse = |message: &str| Err(ErrorInfo::new(code::H3, message));
        if !url.is_https() {
            return refuse("http3: HTTP/3 was requested for a plain http URL; use https");
        }
        if self.shared.settings.proxies.for_url(url).is_some() {
            return refuse(
                "http3: HTTP/3 does not go through a proxy; add the host to NO_PROXY, or do not use HTTP/3",
            );
        }
        let target = plimsoll_http3::Target {
            host: url.host(),
            port: url.port(),
            local: self.local_ip,
        };
        let (endpoints, network) = (&self.shared.endpoints, &self.shared.network);
        let quic =
            plimsoll_http3::Connection::open(endpoints, network, target, &self.traffic, steps)
                .await
                .map_err(|fault| h3_connection::info(&fault))?;
        let connection = h3_connection::Connection::new(quic);
        Ok(Link::Shared(Rc::new(Multiplexed::Http3(connection))))
    }
}

/// Whether a connection uses HTTP/2: negotiated over TLS, or by prior knowledge without TLS.
fn speaks_http2(protocol: Protocol, tls: Option<TlsFacts>) -> Result<bool, ErrorInfo> {
    let mismatch = |message: &str| Err(ErrorInfo::new(code::H2, message));
    match (protocol, tls) {
        // HTTP/3 is handled in `connect_http3`.
        (Protocol::Http1 | Protocol::Http3, _) | (Protocol::Auto, None) => Ok(false),
        (Protocol::Auto, Some(facts)) => Ok(facts.http2),
        (Protocol::H2c, None) => Ok(true),
        (Protocol::Http2, None) => {
            mismatch("http2: HTTP/2 was requested for a plain http URL; request h2c, or use https")
        }
        (Protocol::Http2 | Protocol::H2c, Some(facts)) if facts.http2 => Ok(true),
        (Protocol::Http2 | Protocol::H2c, Some(_)) => mismatch(
            "http2: the server does not speak HTTP/2: it did not choose h2 in the TLS handshake",
        ),
    }
}
