//! Settings with a fixed list of values.

use plimsoll_units::named_values;

/// Which address to use if a host has several.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsSelect {
    /// Always use the first address.
    First,
    /// Use a random address for each lookup.
    #[default]
    Random,
    /// Use the addresses in rotation.
    RoundRobin,
}
named_values! { DnsSelect, "address selection": First = "first", Random = "random", RoundRobin = "roundRobin" }

/// The address family to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DnsPolicy {
    /// IPv4 if available, else IPv6.
    #[default]
    PreferIpv4,
    /// IPv6 if available, else IPv4.
    PreferIpv6,
    /// IPv4 only.
    OnlyIpv4,
    /// IPv6 only.
    OnlyIpv6,
    /// Any family.
    Any,
}
named_values! { DnsPolicy, "address policy": PreferIpv4 = "preferIPv4", PreferIpv6 = "preferIPv6", OnlyIpv4 = "onlyIPv4", OnlyIpv6 = "onlyIPv6", Any = "any" }

/// A version of TLS, with the name that k6 uses. `net` supports 1.2 and 1.3. The others exist so
/// that settings can name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TlsVersion {
    Tls10,
    Tls11,
    Tls12,
    Tls13,
}
named_values! { TlsVersion, "TLS version": Tls10 = "tls1.0", Tls11 = "tls1.1", Tls12 = "tls1.2", Tls13 = "tls1.3" }
