//! The protocols that a run's responses used, in one short line.

/// Protocols, TLS versions and cipher suites, each with its number of responses: `HTTP/2.0 × 20,
/// tls1.3 × 20, TLS_AES_128_GCM_SHA256 × 20`. Empty without any response.
pub(crate) fn line<'a>(answers: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    let parts: Vec<_> = answers
        .into_iter()
        .map(|(name, count)| format!("{name} × {count}"))
        .collect();
    parts.join(", ")
}
