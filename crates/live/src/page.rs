//! The page: one file, with its style and script in it.

const HTML: &str = include_str!("../page/page.html");
const CSS: &str = include_str!("../page/page.css");
const CHART: &str = include_str!("../page/chart.js");
const JS: &str = include_str!("../page/page.js");

/// The whole page.
pub fn page() -> String {
    HTML.replace("/*style*/", CSS)
        .replace("/*script*/", &format!("(() => {{\n{CHART}\n{JS}}})();"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_complete_small_and_refers_to_no_other_host() {
        let page = page();
        assert!(page.len() < 150_000, "{} bytes", page.len());
        assert!(!page.contains("/*style*/") && !page.contains("/*script*/"));
        for reference in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(reference), "{reference}");
        }
    }
}
