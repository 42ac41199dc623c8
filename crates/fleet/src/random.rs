//! Unguessable identifiers and passwords.

/// Random bytes.
///
/// # Errors
/// If the system has no random numbers.
pub fn bytes<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes)
        .map_err(|error| format!("the system returned no random numbers: {error}"))?;
    Ok(bytes)
}

/// Formats bytes as hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
