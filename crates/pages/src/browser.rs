//! What a page brings to the browser: looks, the plotting library, and the script
//! that makes plots interactive. All of it is in the page, and a policy in the page
//! lets nothing else run or load.

use sha2::{Digest, Sha256};

/// uPlot's licence asks to be in every copy.
const LICENCE: &str = include_str!("../vendor/uplot/LICENSE");
const UPLOT: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
const UPLOT_LOOKS: &str = include_str!("../vendor/uplot/uPlot.min.css");
const PAGE: &str = include_str!("../assets/page.js");
const LOOKS: &str = include_str!("../assets/page.css");

/// The page's rules.
pub fn looks() -> String {
    format!("{}{}{UPLOT_LOOKS}{LOOKS}", plots::COLOURS, plots::RULES)
}

/// The page's one script.
pub fn script() -> String {
    format!("/* uPlot:\n{LICENCE}*/\n{UPLOT}\n{PAGE}")
}

/// What the page may do, as a Content Security Policy: run this script alone, and load
/// nothing at all.
pub fn policy(script: &str) -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-{}'",
        base64(&Sha256::digest(script.as_bytes()))
    )
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let byte = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let letter = LETTERS[(word >> (18 - 6 * place)) as usize & 63];
            text.push(if place > chunk.len() {
                '='
            } else {
                char::from(letter)
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_as_in_the_standard() {
        // RFC 4648, section 10.
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (bytes, text) in cases {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn nothing_ends_the_script_or_the_rules_early() {
        assert!(!script().to_ascii_lowercase().contains("</script"));
        assert!(!script().contains("<!--"));
        assert!(!looks().to_ascii_lowercase().contains("</style"));
        for text in [script(), looks()] {
            for asks in ["url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(asks), "{asks}");
            }
        }
    }
}
