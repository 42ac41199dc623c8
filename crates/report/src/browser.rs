//! The page's assets: styles, the plotting library, and the script that makes plots interactive.
//! They are all embedded, and a policy in the page prevents anything else from running or loading.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// uPlot's license requires a copy of it with the code.
const LICENSE: &str = include_str!("../vendor/uplot/LICENSE");
const UPLOT: &str = include_str!("../vendor/uplot/uPlot.iife.min.js");
const UPLOT_LOOKS: &str = include_str!("../vendor/uplot/uPlot.min.css");
const PAGE: &str = include_str!("../assets/page.js");
const LOOKS: &str = include_str!("../assets/page.css");

/// The page's style sheet.
pub fn looks() -> String {
    format!(
        "{}{}{UPLOT_LOOKS}{LOOKS}",
        plimsoll_plots::COLORS,
        plimsoll_plots::RULES
    )
}

/// The page's only script.
pub fn script() -> String {
    format!("/* uPlot:\n{LICENSE}*/\n{UPLOT}\n{PAGE}")
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
        assert!(!looks().to_ascii_lowercase().contains("</style"));
        for text in [script(), looks()] {
            for asks in ["url(", "@import", "fetch(", "XMLHttpRequest", "import("] {
                assert!(!text.contains(asks), "{asks}");
            }
        }
    }
}
