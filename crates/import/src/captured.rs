//! Responses that a comparison script has printed, one JSON document per line.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::journey::Response;

/// A response that a run of the script received.
#[derive(Clone, Debug, PartialEq)]
pub struct Captured {
    /// The number of the repetition of the journey, starting at 0.
    pub iteration: usize,
    /// The number of the request, starting at 0.
    pub request: usize,
    pub response: Response,
}

#[derive(Deserialize)]
struct Line {
    iteration: usize,
    request: usize,
    status: u16,
    #[serde(default)]
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(default)]
    body: String,
}

impl Captured {
    /// Reads the lines. Other lines, such as the script's own console output, are skipped.
    pub fn parse(text: &str) -> Vec<Captured> {
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let captured = lines.map(|line| Captured {
            iteration: line.iteration,
            request: line.request,
            response: Response {
                status: line.status,
                headers: line.headers.into_iter().collect(),
                body: line.body,
                url: line.url,
            },
        });
        captured.collect()
    }
}
