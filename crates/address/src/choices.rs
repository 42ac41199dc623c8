//! Settings with a fixed list of values.

use plimsoll_units::named_values;

/// The address to use if a host has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsSelect {
    /// Always the first.
    First,
    /// One at random for each lookup.
    #[default]
    Random,
    /// One after the other.
    RoundRobin,
}
named_values! { DnsSelect, "way to select an address": First = "first", Random = "random", RoundRobin = "roundRobin" }

/// The address family to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 if there is one, else IPv6.
    #[default]
    PreferIpv4,
    /// IPv6 if there is one, else IPv4.
    PreferIpv6,
    /// IPv4 or nothing.
    OnlyIpv4,
    /// IPv6 or nothing.
    OnlyIpv6,
    /// Either family.
    Any,
}
named_values! { DnsPolicy, "address policy": PreferIpv4 = "preferIPv4", PreferIpv6 = "preferIPv6", OnlyIpv4 = "onlyIPv4", OnlyIpv6 = "onlyIPv6", Any = "any" }

/// A version of TLS, by the name that k6 gives it. `net` speaks 1.2 and 1.3; the others exist so
/// that a setting can name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}
named_values! { TlsVersion, "TLS version": Tls10 = "tls1.0", Tls11 = "tls1.1", Tls12 = "tls1.2", Tls13 = "tls1.3" }
