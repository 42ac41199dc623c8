use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};

/// The ASCII form of a host name with other letters. `None` if `host` is already ASCII or is not a
/// valid name.
///
/// Go's HTTP client uses the lookup profile of UTS #46: it maps compatible letters (for example
/// full-width to half-width) and checks the rules of IDNA 2008. It keeps a name unchanged if the
/// name violates them; then resolving the name fails.
pub(crate) fn ascii_host(host: &str) -> Option<String> {
    if host.is_ascii() {
        return None;
    }
    Uts46::new()
        .to_ascii(
            host.as_bytes(),
            AsciiDenyList::STD3,
            Hyphens::Check,
            DnsLength::Ignore,
        )
        .ok()
        .map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::ascii_host;

    fn ascii(host: &str) -> Option<String> {
        ascii_host(host)
    }

    /// Examples of RFC 3492, section 7.1, and common names.
    #[test]
    fn encodes_labels_in_punycode() {
        assert_eq!(
            ascii("B\u{fc}cher.example").as_deref(),
            Some("xn--bcher-kva.example")
        );
        assert_eq!(
            ascii("\u{4ed6}\u{4eec}\u{4e3a}\u{4ec0}\u{4e48}\u{4e0d}\u{8bf4}\u{4e2d}\u{6587}")
                .as_deref(),
            Some("xn--ihqwcrb4cv8a8dqg056pqjye")
        );
    }

    /// Compatible letters and full stops are mapped, and `ß` is kept (UTS #46, section 4).
    #[test]
    fn maps_compatible_letters() {
        let full_width = "\u{ff4c}\u{ff4f}\u{ff43}\u{ff41}\u{ff4c}\u{ff48}\u{ff4f}\u{ff53}\u{ff54}";
        assert_eq!(ascii(full_width).as_deref(), Some("localhost"));
        assert_eq!(
            ascii("\u{ff11}\u{ff12}\u{ff17}.0.0\u{3002}1").as_deref(),
            Some("127.0.0.1")
        );
        assert_eq!(
            ascii("stra\u{df}e.example").as_deref(),
            Some("xn--strae-oqa.example")
        );
        assert_eq!(
            ascii("u\u{308}.example").as_deref(),
            Some("xn--tda.example")
        );
    }

    #[test]
    fn leaves_ascii_and_invalid_names_alone() {
        assert_eq!(ascii("plain.example"), None);
        assert_eq!(ascii("\u{fc} \u{fc}.example"), None);
        assert_eq!(ascii("-\u{fc}.example"), None);
    }
}
