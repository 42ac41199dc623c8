//! Parses `/etc/hosts` (hosts(5)): each line contains an address and then its names.

use std::net::IpAddr;

/// The addresses of `host` in `text`.
pub fn addresses_of(host: &str, text: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| {
        let mut words = line.split('#').next()?.split_whitespace();
        let address = words.next()?.parse().ok()?;
        words
            .any(|name| name.eq_ignore_ascii_case(host))
            .then_some(address)
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_one_address_and_its_names() {
        let text = "# ::9 a.test\n127.0.0.1 localhost\n::1\tb A.test # c\nx a.test\n";
        let found = addresses_of("a.test", text);
        assert_eq!(found, vec!["::1".parse::<IpAddr>().unwrap()]);
        assert!(addresses_of("c", text).is_empty());
        assert!(addresses_of("a.test", "").is_empty());
    }
}
