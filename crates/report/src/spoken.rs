//! What the answers of a run came over, in one short line.

/// Protocols, versions of TLS and cipher suites, each with how many answers came
/// over it: `HTTP/2.0 × 20, tls1.3 × 20, TLS_AES_128_GCM_SHA256 × 20`. Empty where
/// nothing was answered.
pub(crate) fn line<'a>(answers: impl IntoIterator<Item = (&'a str, u64)>) -> String {
    let parts: Vec<_> = answers
        .into_iter()
        .map(|(name, count)| format!("{name} × {count}"))
        .collect();
    parts.join(", ")
}
