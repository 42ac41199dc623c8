/// A host name with labels beyond ASCII in punycode (RFC 3492); `None` if there
/// is nothing to convert.
pub(crate) fn ascii_host(host: &str) -> Option<String> {
    if host.is_ascii() {
        return None;
    }
    let labels: Vec<String> = host
        .to_lowercase()
        .split('.')
        .map(|label| {
            if label.is_ascii() {
                label.to_owned()
            } else {
                format!("xn--{}", punycode(label))
            }
        })
        .collect();
    Some(labels.join("."))
}

/// RFC 3492, section 6.3, with the parameters of section 5.
fn punycode(label: &str) -> String {
    let digit = |d: u32| char::from_u32(if d < 26 { d + 97 } else { d + 22 }).unwrap_or('a');
    let mut out: String = label.chars().filter(char::is_ascii).collect();
    let basic = out.len() as u32;
    if basic > 0 {
        out.push('-');
    }
    let total = label.chars().count() as u32;
    let (mut n, mut delta, mut bias, mut handled) = (128u32, 0u32, 72u32, basic);
    while handled < total {
        let Some(next) = label.chars().map(u32::from).filter(|&c| c >= n).min() else {
            break;
        };
        delta = delta.saturating_add((next - n).saturating_mul(handled + 1));
        n = next;
        for c in label.chars().map(u32::from) {
            if c < n {
                delta = delta.saturating_add(1);
            }
            if c == n {
                let mut q = delta;
                let mut k = 36u32;
                loop {
                    let t = k.saturating_sub(bias).clamp(1, 26);
                    if q < t {
                        break;
                    }
                    out.push(digit(t + (q - t) % (36 - t)));
                    q = (q - t) / (36 - t);
                    k += 36;
                }
                out.push(digit(q));
                delta = if handled == basic {
                    delta / 700
                } else {
                    delta / 2
                };
                delta += delta / (handled + 1);
                let mut shifts = 0;
                while delta > 455 {
                    delta /= 35;
                    shifts += 36;
                }
                bias = shifts + 36 * delta / (delta + 38);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.saturating_add(1);
        n += 1;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3492, section 7.1, and everyday names.
    #[test]
    fn names_beyond_ascii_are_encoded() {
        let ascii = |host: &str| ascii_host(host).unwrap();
        assert_eq!(ascii("B\u{fc}cher.example"), "xn--bcher-kva.example");
        assert_eq!(
            ascii("\u{4ed6}\u{4eec}\u{4e3a}\u{4ec0}\u{4e48}\u{4e0d}\u{8bf4}\u{4e2d}\u{6587}"),
            "xn--ihqwcrb4cv8a8dqg056pqjye"
        );
        assert_eq!(ascii_host("plain.example"), None);
    }
}
