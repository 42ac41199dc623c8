//! Replaces data that may differ between two runs: ports, directories, times.

use std::path::Path;

use regex::Regex;

use super::case::Case;
use crate::case_server::Addresses;

/// Normalizes the output of one run of one case.
pub struct Normalizer {
    literal: Vec<(String, String)>,
    patterns: Vec<(Regex, String)>,
}

impl Normalizer {
    /// `folder` is the working directory of the case.
    pub fn new(case: &Case, folder: &Path, server: &Addresses) -> Result<Normalizer, String> {
        let mut literal = Vec::new();
        for (port, name) in &server.ports {
            literal.push((format!("127.0.0.1:{port}"), format!("127.0.0.1:<{name}>")));
            literal.push((format!("localhost:{port}"), format!("localhost:<{name}>")));
        }
        literal.push((server.certificates.clone(), "<certs>".to_owned()));
        literal.push((folder.to_string_lossy().into_owned(), "<case>".to_owned()));
        let own = [
            // This is the local address of a client's connection.
            (r"127\.0\.0\.1:\d+->", "127.0.0.1:<own>->"),
            (
                r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)",
                "<time>",
            ),
        ];
        let settings = case.settings.replace.iter();
        let settings = settings.map(|(pattern, with)| (pattern.as_str(), with.as_str()));
        let patterns = own
            .into_iter()
            .chain(settings)
            .map(|(pattern, with)| {
                let pattern = Regex::new(pattern).map_err(|error| error.to_string())?;
                Ok((pattern, with.to_owned()))
            })
            .collect::<Result<_, String>>()?;
        Ok(Normalizer { literal, patterns })
    }

    pub fn text(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (from, to) in &self.literal {
            text = text.replace(from, to);
        }
        for (pattern, with) in &self.patterns {
            text = pattern.replace_all(&text, with.as_str()).into_owned();
        }
        text
    }
}
