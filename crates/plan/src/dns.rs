//! How names are resolved: `dns: { ttl, select, policy }`.

use std::fmt;
use std::time::Duration;

use plimsoll_address::{DnsPolicy, DnsSelect};
use plimsoll_units::UnknownName;

use crate::error::{Fault, excerpt};

/// The `dns` option; each part may be unset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DnsOptions {
    /// How long a DNS response is cached.
    pub ttl: Option<DnsTtl>,
    /// The address to use if there are several.
    pub select: Option<DnsSelect>,
    /// The address family to use.
    pub policy: Option<DnsPolicy>,
}

impl DnsOptions {
    /// Parses `ttl=5m,select=random,policy=preferIPv4`, or some of these parts, as in `--dns` and `K6_DNS`.
    ///
    /// # Errors
    /// If a part is unknown or has an invalid value.
    pub fn parse(text: &str) -> Result<DnsOptions, Fault> {
        let mut dns = DnsOptions::default();
        for part in text.split(',') {
            let Some((key, value)) = part.split_once('=') else {
                return Err(Fault::at(
                    "",
                    format!(
                        "\"{}\" has no value: write ttl=5m,select=random,policy=preferIPv4",
                        excerpt(part)
                    ),
                ));
            };
            match key.trim() {
                "ttl" => dns.ttl = Some(DnsTtl::parse(value)?),
                "select" => dns.select = Some(DnsSelect::parse(value)?),
                "policy" => dns.policy = Some(DnsPolicy::parse(value)?),
                other => {
                    let known = ["ttl", "select", "policy"];
                    return Err(UnknownName::new("DNS setting", other, &known).into());
                }
            }
        }
        Ok(dns)
    }
}

/// How long to cache a resolved address. The string is kept as written, because the option is shown like that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DnsTtl {
    written: String,
    /// `None` means forever. Zero means to repeat the lookup for every connection.
    pub keep: Option<Duration>,
}

impl DnsTtl {
    /// Parses `inf`, `0`, or a duration.
    ///
    /// # Errors
    /// If it is none of these.
    pub fn parse(text: &str) -> Result<DnsTtl, Fault> {
        let keep = match text.trim() {
            "inf" => None,
            other => Some(plimsoll_units::duration::parse(other).map_err(|_| {
                Fault::at(
                    "",
                    format!(
                        "\"{}\" is not a DNS ttl: use \"inf\", \"0\" or a duration such as \"5m\"",
                        excerpt(text)
                    ),
                )
            })?),
        };
        Ok(DnsTtl {
            written: text.to_owned(),
            keep,
        })
    }
}

impl fmt::Display for DnsTtl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written)
    }
}
