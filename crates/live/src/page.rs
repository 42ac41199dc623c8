//! The page as a single file, including its styles and scripts.

use plimsoll_plots::uplot;

const HTML: &str = include_str!("../page/page.html");
const CSS: &str = include_str!("../page/page.css");
const TEXTS: &str = include_str!("../page/texts.js");
const CHART: &str = include_str!("../page/chart.js");
const JS: &str = include_str!("../page/page.js");

/// The whole page.
pub fn page() -> String {
    let script = format!("{}(() => {{\n{TEXTS}\n{CHART}\n{JS}}})();", uplot::SCRIPT);
    HTML.replace("/*style*/", &format!("{}{CSS}", uplot::STYLE))
        .replace("/*script*/", &script)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_complete_small_and_refers_to_no_other_host() {
        let page = page();
        assert!(page.len() < 150_000, "{} bytes", page.len());
        assert!(!page.contains("/*style*/") && !page.contains("/*script*/"));
        for reference in ["src=", "@import", "url(", "fetch(", "import("] {
            assert!(!page.contains(reference), "{reference}");
        }
        for address in ["http://", "https://"] {
            // The first line of uPlot contains the URL of its project.
            let count = page.matches(address).count();
            assert_eq!(count, uplot::SCRIPT.matches(address).count(), "{address}");
        }
    }
}
