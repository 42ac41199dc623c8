//! What a page brings to the browser: looks, the plotting library, and the script
//! that makes plots interactive. All of it is in the page, and a policy in the page
//! lets nothing else run or load.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// uPlot's licence asks to be in every copy.
const LICENCE: &str = include_str!("../vendor/uplot/LICENSE");
const UPLOT: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
const UPLOT_LOOKS: &str = include_str!("../vendor/uplot/uPlot.min.css");
const PAGE: &str = include_str!("../assets/page.js");
const LOOKS: &str = include_str!("../assets/page.css");

/// The page's rules.
pub fn looks() -> String {
    format!(
        "{}{}{UPLOT_LOOKS}{LOOKS}",
        plimsoll_plots::COLOURS,
        plimsoll_plots::RULES
    )
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
        assert!(!looks().to_ascii_lowercase().contains("</style"));
        for text in [script(), looks()] {
            for asks in ["url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(asks), "{asks}");
            }
        }
    }
}
