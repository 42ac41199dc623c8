//! The page's assets: styles, the plotting library, and the script that makes plots interactive.
//! They are all embedded, and a policy in the page prevents anything else from running or loading.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use plimsoll_plots::uplot;
use sha2::{Digest, Sha256};

const PAGE: &str = include_str!("../assets/page.js");
const STYLES: &str = include_str!("../assets/page.css");

/// The page's style sheet.
pub fn styles() -> String {
    format!(
        "{}{}{}{STYLES}",
        plimsoll_plots::COLORS,
        plimsoll_plots::RULES,
        uplot::STYLE
    )
}

/// The page's only script.
pub fn script() -> String {
    format!("{}{PAGE}", uplot::SCRIPT)
}

/// The page's Content Security Policy: run this script only, and load nothing.
pub fn policy(script: &str) -> String {
    format!(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-{}'",
        STANDARD.encode(Sha256::digest(script.as_bytes()))
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_script_or_the_rules_early() {
        assert!(!script().to_ascii_lowercase().contains("</script"));
        assert!(!script().contains("<!--"));
        assert!(!styles().to_ascii_lowercase().contains("</style"));
        for text in [script(), styles()] {
            for asks in ["url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(asks), "{asks}");
            }
        }
    }
}
