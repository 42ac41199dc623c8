//! Host patterns, IP ranges, and options for DNS and TLS. This crate parses them, `plan` validates
//! them, and `net` applies them.

mod choices;
mod cipher_suite;
mod host_address;
mod host_pattern;
mod host_port;
mod ip_pool;
mod ip_range;

use std::fmt;

pub use choices::{DnsPolicy, DnsSelect, TlsVersion};
pub use cipher_suite::CipherSuite;
pub use host_address::HostAddress;
pub use host_pattern::{HostKey, HostPattern};
pub use host_port::HostPort;
pub use ip_pool::IpPool;
pub use ip_range::IpRange;

/// Why an input could not be parsed: a sentence with the expected format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError(String);

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ParseError {}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn no_text_panics(text in "[0-9a-f.:/*, -]{0,30}") {
            let _ = HostAddress::parse(&text);
            let _ = HostPattern::parse(&text);
            let _ = HostKey::parse(&text);
            let _ = HostPort::parse(&text);
            let _ = IpRange::parse(&text);
            let _ = IpRange::parse_block(&text);
            if let Ok(pool) = IpPool::parse(&text) {
                prop_assert!(pool.of_user(u64::MAX).is_some());
            }
        }
    }
}
