//! Summarizes the protocols of a run's responses in one short line.

/// Lists protocols, TLS versions and cipher suites, each with its number of responses: `HTTP/2.0 × 20, tls1.3 × 20,
/// TLS_AES_128_GCM_SHA256 × 20`. Empty if there are no responses.
pub(crate) fn line<'a>(responses: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    let parts: Vec<_> = responses
        .into_iter()
        .map(|(name, count)| format!("{name} × {count}"))
        .collect();
    parts.join(", ")
}
