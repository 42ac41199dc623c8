//! HTTP and HTTPS proxies: chooses one for a request, and opens tunnels through it.

use std::net::IpAddr;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_address::IpRange;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::auth;
use crate::error::{ErrorInfo, code};
use crate::fields::Fields;
use crate::url::Url;

/// Maximum length of the response to CONNECT.
const MAX_RESPONSE: usize = 64 * 1024;

/// Selects the proxy for a request, based on `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY`.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    http: Option<Arc<Proxy>>,
    https: Option<Arc<Proxy>>,
    exceptions: Vec<Exception>,
    all_direct: bool,
    /// Additional header fields for CONNECT.
    connect_fields: Fields,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_https: bool,
    /// `Proxy-Authorization`, from the URL's user and password.
    pub(crate) authorization: Option<String>,
}

#[derive(Clone, Debug)]
enum Exception {
    Range(IpRange),
    Ip(IpAddr, Option<u16>),
    /// The name, whether only its subdomains match, and the port.
    Domain(String, bool, Option<u16>),
}

impl Proxies {
    /// Reads the variables with `variable`, first in upper case and then in lower case.
    ///
    /// # Errors
    /// If the URL of a proxy is not usable. The error names the variable.
    pub fn from_env(variable: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let read = |name: &str| {
            [name.to_owned(), name.to_lowercase()]
                .into_iter()
                .find_map(|name| Some((variable(&name).filter(|text| !text.is_empty())?, name)))
        };
        let proxy = |name: &str| {
            read(name)
                .map(|(text, name)| {
                    Proxy::parse(&text)
                        .map(Arc::new)
                        .map_err(|why| format!("{name}: {why}"))
                })
                .transpose()
        };
        let mut proxies = Proxies {
            http: proxy("HTTP_PROXY")?,
            https: proxy("HTTPS_PROXY")?,
            ..Proxies::default()
        };
        if let Some((list, _)) = read("NO_PROXY") {
            for entry in list.split(',').map(str::trim).filter(|e| !e.is_empty()) {
                if entry == "*" {
                    proxies.all_direct = true;
                } else {
                    proxies.exceptions.push(Exception::parse(entry));
                }
            }
        }
        Ok(proxies)
    }

    /// Adds header fields to CONNECT requests. `Proxy-Authorization` applies only if the proxy's URL
    /// has no user. CONNECT itself sets `Host`.
    pub fn with_connect_fields(mut self, fields: Fields) -> Self {
        self.connect_fields = fields;
        self
    }

    /// The proxy for a request to `url`; none for loopback addresses, as in Go.
    pub(crate) fn for_url(&self, url: &Url) -> Option<&Arc<Proxy>> {
        let proxy = if url.is_https() {
            self.https.as_ref()?
        } else {
            self.http.as_ref()?
        };
        let host = url.host().to_ascii_lowercase();
        let ip: Option<IpAddr> = host.parse().ok();
        let excepted = self.all_direct
            || host == "localhost"
            || ip.is_some_and(|ip| ip.is_loopback())
            || self
                .exceptions
                .iter()
                .any(|exception| exception.covers(&host, ip, url.port()));
        (!excepted).then_some(proxy)
    }
}

impl Proxy {
    fn parse(text: &str) -> Result<Proxy, String> {
        let full = if text.contains("://") {
            text.to_owned()
        } else {
            format!("http://{text}")
        };
        let url = Url::parse(&full).map_err(|error| error.to_string())?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(format!(
                "`{}` is a {} proxy, which is not supported; http and https are",
                url.masked(),
                url.scheme()
            ));
        }
        url.check_usable().map_err(|error| error.message)?;
        Ok(Proxy {
            host: url.host().to_owned(),
            port: url.port(),
            is_https: url.is_https(),
            authorization: auth::basic_of(&url),
        })
    }

    /// Requests a tunnel to the origin of `url` (RFC 9110, section 9.3.6). `proxies` contains the
    /// additional fields to send.
    pub(crate) async fn tunnel<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        url: &Url,
        proxies: &Proxies,
    ) -> Result<(), ErrorInfo> {
        let broken = |error: std::io::Error| crate::fault::broken("proxy", &error);
        let ask = self.connect_head(url, &proxies.connect_fields);
        stream.write_all(ask.as_bytes()).await.map_err(broken)?;
        stream.flush().await.map_err(broken)?;
        let mut response = Vec::new();
        // Read byte by byte, so no byte of the tunnel's content is consumed.
        while !response.ends_with(b"\r\n\r\n") {
            let byte = stream.read_u8().await.map_err(broken)?;
            response.push(byte);
            if response.len() > MAX_RESPONSE {
                return Err(self.refused("a response without an end"));
            }
        }
        let line = response.split(|&b| b == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line);
        let status = line.split_once(' ').map_or(&*line, |(_, status)| status);
        if status.starts_with('2') {
            return Ok(());
        }
        Err(self.refused(status))
    }

    fn connect_head(&self, url: &Url, fields: &Fields) -> String {
        let mut target = url.authority().to_owned();
        if !target.ends_with(&format!(":{}", url.port())) {
            target = format!("{target}:{}", url.port());
        }
        let mut head = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n");
        if let Some(authorization) = &self.authorization {
            head.push_str(&format!("Proxy-Authorization: {authorization}\r\n"));
        }
        for (name, value) in fields.iter() {
            let is_own = name.eq_ignore_ascii_case("host")
                || (self.authorization.is_some()
                    && name.eq_ignore_ascii_case("proxy-authorization"));
            if !is_own {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        head.push_str("\r\n");
        head
    }

    fn refused(&self, with: &str) -> ErrorInfo {
        ErrorInfo::new(
            code::DEFAULT,
            format!(
                "the proxy {}:{} responded to CONNECT with {with}",
                self.host, self.port
            ),
        )
    }
}

impl Exception {
    /// Parses an address, a CIDR block, a domain (including its subdomains), or `.domain` (only its
    /// subdomains). Addresses and domains may have a port.
    fn parse(entry: &str) -> Exception {
        if entry.contains('/')
            && let Ok(range) = IpRange::parse(entry)
        {
            return Exception::Range(range);
        }
        if let Ok(ip) = entry.parse() {
            return Exception::Ip(ip, None);
        }
        if let Ok(address) = entry.parse::<std::net::SocketAddr>() {
            return Exception::Ip(address.ip(), Some(address.port()));
        }
        let (name, port) = match entry.rsplit_once(':') {
            Some((name, port)) => (name, port.parse().ok()),
            None => (entry, None),
        };
        let name = name.strip_prefix('*').unwrap_or(name).to_ascii_lowercase();
        match name.strip_prefix('.') {
            Some(rest) => Exception::Domain(rest.to_owned(), true, port),
            None => Exception::Domain(name, false, port),
        }
    }

    fn covers(&self, host: &str, ip: Option<IpAddr>, port: u16) -> bool {
        let port_fits = |wanted: &Option<u16>| wanted.is_none_or(|wanted| wanted == port);
        match self {
            Exception::Range(range) => ip.is_some_and(|ip| range.contains(ip)),
            Exception::Ip(own, wanted) => ip == Some(*own) && port_fits(wanted),
            Exception::Domain(name, below_only, wanted) => {
                let below = host
                    .strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.ends_with('.'));
                port_fits(wanted) && (below || (!below_only && host == name))
            }
        }
    }
}

/// The proxy that receives this request in absolute form, if any.
pub(crate) fn plain_proxy<'a>(proxies: &'a Proxies, url: &Rc<Url>) -> Option<&'a Proxy> {
    if url.is_https() {
        return None;
    }
    proxies.for_url(url).map(|proxy| &**proxy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Result<Proxies, String> {
        Proxies::from_env(|name| {
            variables
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, value)| (*value).to_owned())
        })
    }

    fn port_for(proxies: &Proxies, url: &str) -> Option<u16> {
        proxies.for_url(&Url::parse(url).unwrap()).map(|p| p.port)
    }

    #[test]
    fn the_scheme_selects_the_proxy_and_exceptions_use_none() {
        let proxies = proxies(&[
            ("HTTP_PROXY", "http://u:p@proxy.test:3128"),
            ("https_proxy", "proxy.test:3129"),
            (
                "NO_PROXY",
                "a.test, .b.test ,10.0.0.0/8,192.0.2.1,c.test:81",
            ),
        ])
        .unwrap();
        for (url, wanted) in [
            ("http://x.test/", Some(3128)),
            ("https://x.test/", Some(3129)),
            ("http://localhost/", None),
            ("http://127.0.0.9/", None),
            ("http://a.test/", None),
            ("http://www.a.test/", None),
            ("http://aa.test/", Some(3128)),
            ("http://b.test/", Some(3128)),
            ("http://www.B.test/", None),
            ("http://10.9.9.9/", None),
            ("http://192.0.2.1:99/", None),
            ("http://c.test:81/", None),
            ("http://c.test/", Some(3128)),
        ] {
            assert_eq!(port_for(&proxies, url), wanted, "{url}");
        }
        let http = proxies.http.as_ref().unwrap();
        assert_eq!(http.authorization.as_deref(), Some("Basic dTpw"));
    }

    #[test]
    fn tunnels_are_requested_with_the_given_headers() {
        let head = |proxy: &str, fields: &[(&str, &str)]| {
            let mut all = Fields::new();
            for (name, value) in fields {
                all.append(name, value).unwrap();
            }
            let proxies = proxies(&[("HTTPS_PROXY", proxy)])
                .unwrap()
                .with_connect_fields(all);
            let url = Url::parse("https://x.test/a").unwrap();
            let proxy = proxies.for_url(&url).unwrap();
            proxy.connect_head(&url, &proxies.connect_fields)
        };
        let fields = [
            ("X-Way", "a"),
            ("X-Way", "b"),
            ("Host", "other"),
            ("Proxy-Authorization", "Bearer t"),
        ];
        assert_eq!(
            head("p.test:1", &fields),
            "CONNECT x.test:443 HTTP/1.1\r\nHost: x.test:443\r\nX-Way: a\r\nX-Way: b\r\n\
             Proxy-Authorization: Bearer t\r\n\r\n"
        );
        assert_eq!(
            head("http://u:p@p.test:1", &fields),
            "CONNECT x.test:443 HTTP/1.1\r\nHost: x.test:443\r\n\
             Proxy-Authorization: Basic dTpw\r\nX-Way: a\r\nX-Way: b\r\n\r\n"
        );
    }

    #[test]
    fn invalid_proxies_are_reported_with_their_variable() {
        let error = proxies(&[("HTTPS_PROXY", "socks5://h:1")]).unwrap_err();
        assert!(error.starts_with("HTTPS_PROXY: `socks5://h:1` is a socks5 proxy"));
        let all = proxies(&[("HTTP_PROXY", "h:1"), ("no_proxy", "*")]).unwrap();
        assert_eq!(port_for(&all, "http://x.test/"), None);
    }
}
