//! Translates names and errors of the TLS library.

use std::io;

use rustls::pki_types::UnixTime;
use rustls::{CertificateError, SupportedCipherSuite};

use crate::error::TlsError;

/// Go's name for a cipher suite.
pub(crate) fn go_name(suite: SupportedCipherSuite) -> &'static str {
    use rustls::CipherSuite as S;
    match suite.suite() {
        S::TLS13_AES_128_GCM_SHA256 => "TLS_AES_128_GCM_SHA256",
        S::TLS13_AES_256_GCM_SHA384 => "TLS_AES_256_GCM_SHA384",
        S::TLS13_CHACHA20_POLY1305_SHA256 => "TLS_CHACHA20_POLY1305_SHA256",
        other => other.as_str().unwrap_or(""),
    }
}

/// The TLS error inside an I/O error. It occurs during a handshake or at the first read, because a
/// TLS 1.3 server may reject a client after the client has completed its handshake.
pub fn tls_fault(error: &io::Error, host: &str) -> Option<TlsError> {
    let inner = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    Some(fault_of(inner, host))
}

/// Converts an error of the TLS library.
pub(crate) fn fault_of(error: &rustls::Error, host: &str) -> TlsError {
    match error {
        rustls::Error::InvalidMessage(_) => TlsError::NotTls,
        rustls::Error::InvalidCertificate(why) => match why {
            CertificateError::UnknownIssuer => TlsError::UnknownAuthority,
            CertificateError::NotValidForName => TlsError::WrongName {
                host: host.to_owned(),
                names: Vec::new(),
            },
            CertificateError::NotValidForNameContext { presented, .. } => TlsError::WrongName {
                host: host.to_owned(),
                names: presented.iter().map(|name| plain_name(name)).collect(),
            },
            CertificateError::ExpiredContext { time, not_after } => TlsError::Expired(format!(
                "current time {} is after {}",
                date(*time),
                date(*not_after)
            )),
            CertificateError::NotValidYetContext { time, not_before } => {
                TlsError::Expired(format!(
                    "current time {} is before {}",
                    date(*time),
                    date(*not_before)
                ))
            }
            CertificateError::Expired | CertificateError::NotValidYet => {
                TlsError::Expired(why.to_string())
            }
            other => TlsError::Other(format!("invalid certificate: {other}")),
        },
        rustls::Error::AlertReceived(alert) => TlsError::Alert(alert_text(*alert)),
        other => TlsError::Other(other.to_string()),
    }
}

/// Formats a time according to RFC 3339, with seconds.
fn date(time: UnixTime) -> String {
    let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
    format!("{}Z", plimsoll_units::date_time(seconds))
}

/// The plain name in `DnsName("example.com")`.
fn plain_name(presented: &str) -> String {
    match presented
        .split_once('"')
        .and_then(|(_, rest)| rest.split_once('"'))
    {
        Some((name, _)) => name.to_owned(),
        None => presented.to_owned(),
    }
}

pub(crate) fn alert_text(alert: rustls::AlertDescription) -> String {
    use rustls::AlertDescription as A;
    match alert {
        A::HandshakeFailure => "handshake failure".into(),
        A::ProtocolVersion => "protocol version not supported".into(),
        A::BadCertificate => "bad certificate".into(),
        A::CertificateRequired => "certificate required".into(),
        A::UnknownCA => "unknown certificate authority".into(),
        A::UnrecognisedName => "unrecognized name".into(),
        A::InternalError => "internal error".into(),
        A::NoApplicationProtocol => "no application protocol".into(),
        A::AccessDenied => "access denied".into(),
        other => format!("{other:?}"),
    }
}

impl TlsError {
    /// The meaning of an alert with which a peer closes a QUIC connection (RFC 9001, section 4.8).
    pub fn of_alert(code: u8) -> TlsError {
        TlsError::Alert(alert_text(rustls::AlertDescription::from(code)))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn dates_are_correct_around_leap_days() {
        let at = |seconds| date(UnixTime::since_unix_epoch(Duration::from_secs(seconds)));
        assert_eq!(at(0), "1970-01-01T00:00:00Z");
        assert_eq!(at(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(at(1_580_515_200), "2020-02-01T00:00:00Z");
        assert_eq!(at(1_735_689_599), "2024-12-31T23:59:59Z");
    }
}
