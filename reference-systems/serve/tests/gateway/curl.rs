//! Sends requests with curl.

use std::path::Path;

use crate::running::tool;

#[derive(Debug)]
pub struct Response {
    pub status: u16,
    /// `1.1` or `2`, as printed by curl.
    pub version: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Response {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

pub fn get(url: &str) -> Response {
    curl(&[url])
}

/// Over TLS, trusting the authority in `certs`.
pub fn trusting(certs: &Path, arguments: &[&str]) -> Response {
    let authority = certs.join("ca.pem");
    let mut all = vec!["--cacert", authority.to_str().unwrap()];
    all.extend(arguments);
    curl(&all)
}

/// Runs curl. Status 0 means that there was no response.
pub fn curl(arguments: &[&str]) -> Response {
    let output = tool("curl", "curl")
        .args(["--silent", "--include", "--max-time", "20", "--path-as-is"])
        .args(["--write-out", "\n%{http_code} %{http_version}"])
        .args(arguments)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut rest, last) = text.rsplit_once('\n').unwrap();
    let (status, version) = last.split_once(' ').unwrap();
    let mut headers = Vec::new();
    // Interim responses, such as 100, come first.
    while rest.starts_with("HTTP/") {
        let (head, body) = rest.split_once("\r\n\r\n").unwrap_or((rest, ""));
        headers = head
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
            .collect();
        rest = body;
    }
    Response {
        status: status.parse().unwrap(),
        version: version.to_owned(),
        headers,
        body: rest.to_owned(),
    }
}
