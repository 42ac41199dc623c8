//! The files of a report. The extension of a name determines the format.

use std::path::PathBuf;

use crate::Report;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportFile {
    pub path: PathBuf,
    pub format: ReportFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportFormat {
    Html,
    Markdown,
    Json,
}

impl ReportFile {
    /// Parses a path whose extension determines the format.
    ///
    /// # Errors
    /// If the extension is unknown. The message lists the known ones.
    pub fn parse(text: &str) -> Result<ReportFile, String> {
        let path = PathBuf::from(text);
        let extension = path.extension().and_then(|extension| extension.to_str());
        let format = match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("html" | "htm") => ReportFormat::Html,
            Some("md" | "markdown") => ReportFormat::Markdown,
            Some("json") => ReportFormat::Json,
            _ => return Err("the name must end with .html, .md or .json".to_owned()),
        };
        Ok(ReportFile { path, format })
    }
}

impl ReportFormat {
    pub fn render(self, report: &dyn Report) -> String {
        match self {
            ReportFormat::Html => report.html(),
            ReportFormat::Markdown => report.markdown(),
            ReportFormat::Json => format!("{:#}\n", report.json()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_is_the_format() {
        for (name, format) in [
            ("out/run.html", ReportFormat::Html),
            ("RUN.MD", ReportFormat::Markdown),
            ("run.v2.json", ReportFormat::Json),
        ] {
            let file = ReportFile::parse(name).expect(name);
            assert_eq!(file.format, format);
        }
        for name in ["run", "run.pdf", ""] {
            assert!(ReportFile::parse(name).is_err(), "{name}");
        }
    }
}
