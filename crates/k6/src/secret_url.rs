//! Secrets on a server, each with its own URL.

use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use plimsoll_http::{Client, Method, Request, Settings, Shared, Url};
use plimsoll_units::duration;
use serde_json::Value;

/// Reads a text file.
pub type ReadText = dyn Fn(&Path) -> io::Result<String>;

/// The location of secrets, and how to get them.
#[derive(Debug)]
pub struct SecretUrl {
    /// The URL, with `{key}` in place of the secret's name.
    template: String,
    method: String,
    headers: Vec<(String, String)>,
    /// The path of a member in a JSON response, such as `data.value`. Empty for the whole response.
    response_path: String,
    timeout: Duration,
    max_retries: u32,
    retry_backoff: Duration,
}

/// The prefix of environment variables with settings.
const VARIABLES: &str = "K6_SECRET_SOURCE_URL_";

impl SecretUrl {
    /// Reads `urlTemplate=…,headers.NAME=…,…`, `config=FILE`, and the environment variables in `variables`.
    ///
    /// # Errors
    /// If a setting is invalid, or the template is missing.
    pub fn parse(
        settings: &str,
        read: &ReadText,
        variables: impl Iterator<Item = (String, String)>,
    ) -> Result<SecretUrl, String> {
        let mut url = SecretUrl {
            template: String::new(),
            method: "GET".to_owned(),
            headers: Vec::new(),
            response_path: String::new(),
            timeout: Duration::from_secs(30),
            max_retries: 3,
            retry_backoff: Duration::from_secs(1),
        };
        for (name, value) in variables {
            let Some(name) = name.strip_prefix(VARIABLES) else {
                continue;
            };
            match name.strip_prefix("HEADER_") {
                Some(header) => {
                    url.set(&format!("headers.{}", header.replace('_', "-")), &value)?
                }
                None => url.set(&camel_case(name), &value)?,
            }
        }
        for setting in settings.split(',').filter(|setting| !setting.is_empty()) {
            let (name, value) = setting
                .split_once('=')
                .ok_or_else(|| format!("{setting:?} is not of the form NAME=VALUE"))?;
            match name {
                "config" => url.read_file(value, read)?,
                _ => url.set(name, value)?,
            }
        }
        if url.template.contains("{key}") {
            return Ok(url);
        }
        Err(
            "urlTemplate is missing, or has no {key}; write url=urlTemplate=https://HOST/{key}"
                .to_owned(),
        )
    }

    fn read_file(&mut self, path: &str, read: &ReadText) -> Result<(), String> {
        let text = read(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        let json: Value =
            serde_json::from_str(&text).map_err(|error| format!("{path}: {error}"))?;
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        for (name, value) in json.as_object().into_iter().flatten() {
            match value.as_object() {
                Some(headers) if name == "headers" => {
                    for (header, value) in headers {
                        self.set(&format!("headers.{header}"), &text(value))?;
                    }
                }
                _ => self.set(name, &text(value))?,
            }
        }
        Ok(())
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let span = || duration::parse(value).map_err(|error| format!("{name}: {error}"));
        match name {
            "urlTemplate" => value.clone_into(&mut self.template),
            "method" => value.clone_into(&mut self.method),
            "responsePath" => value.clone_into(&mut self.response_path),
            "timeout" => self.timeout = span()?,
            "retryBackoff" => self.retry_backoff = span()?,
            "maxRetries" => {
                let number = value.parse();
                self.max_retries =
                    number.map_err(|_| format!("{name}: {value:?} is not a number"))?;
            }
            // Each secret is fetched once per process, so no limit is needed.
            "requestsPerMinuteLimit" | "requestsBurst" => {}
            _ => match name.strip_prefix("headers.") {
                Some(header) => self.headers.push((header.to_owned(), value.to_owned())),
                None => {
                    return Err(format!(
                        "unknown setting {name}; use urlTemplate, method, headers.NAME, responsePath, timeout, \
                         maxRetries, retryBackoff or config"
                    ));
                }
            },
        }
        Ok(())
    }

    /// The secret with that name. `settings` are those of the run's clients, for TLS and the network.
    ///
    /// # Errors
    /// Why the secret could not be fetched. The message contains neither headers nor the response.
    pub async fn fetch(&self, key: &str, settings: &Settings) -> Result<String, String> {
        let address = self.template.replace("{key}", &escape(key));
        let url = Url::parse(&address).map_err(|error| error.to_string())?;
        let method = Method::parse(&self.method)
            .unwrap_or_else(|| Method::Other(self.method.as_str().into()));
        let mut request = Request::new(method, Rc::new(url));
        for (name, value) in &self.headers {
            request.headers.set(name, value)?;
        }
        request.timeout = self.timeout;
        let mut settings = settings.clone();
        // Requests for secrets are not part of the load.
        (settings.rate_limit, settings.discard_response_bodies) = (None, false);
        let client = Client::new(Shared::new(Arc::new(settings)), 1);
        let mut tries = 0;
        loop {
            let problem = match client.send(&request, None, &mut |_| {}).await {
                Ok(response) if (200..300).contains(&response.status) => {
                    return self.secret(&response.body);
                }
                Ok(response) if response.status < 500 && response.status != 429 => {
                    return Err(format!(
                        "the source of secrets responded with status {}",
                        response.status
                    ));
                }
                Ok(response) => format!(
                    "the source of secrets responded with status {}",
                    response.status
                ),
                Err(failure) => format!("the source of secrets: {}", failure.error.detail()),
            };
            if tries == self.max_retries {
                return Err(problem);
            }
            tries += 1;
            tokio::time::sleep(self.retry_backoff * tries).await;
        }
    }

    fn secret(&self, body: &[u8]) -> Result<String, String> {
        let text = String::from_utf8_lossy(body);
        if self.response_path.is_empty() {
            return Ok(text.into_owned());
        }
        let json: Value = serde_json::from_str(&text)
            .map_err(|_| "the response of the source of secrets is not JSON".to_owned())?;
        let pointer = format!("/{}", self.response_path.replace('.', "/"));
        match json.pointer(&pointer) {
            Some(Value::String(secret)) => Ok(secret.clone()),
            Some(Value::Null) | None => Err(format!(
                "the response of the source of secrets has no {}",
                self.response_path
            )),
            Some(other) => Ok(other.to_string()),
        }
    }
}

/// Converts `MAX_RETRIES` to `maxRetries`.
fn camel_case(name: &str) -> String {
    let words = name.split('_').enumerate().map(|(at, word)| {
        let word = word.to_ascii_lowercase();
        match (at, word.get(..1), word.get(1..)) {
            (1.., Some(first), Some(rest)) => format!("{}{rest}", first.to_ascii_uppercase()),
            _ => word,
        }
    });
    words.collect()
}

/// Escapes all characters that have a meaning in a URL.
fn escape(key: &str) -> String {
    let bytes = key.bytes().map(|byte| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        other => format!("%{other:02X}"),
    });
    bytes.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(settings: &str, variables: &[(&str, &str)]) -> Result<SecretUrl, String> {
        let read = |_: &Path| -> io::Result<String> {
            Ok(
                r#"{"urlTemplate": "http://c/{key}", "headers": {"A": "b"}, "maxRetries": 7}"#
                    .to_owned(),
            )
        };
        let variables = variables.iter();
        let variables = variables.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        SecretUrl::parse(settings, &read, variables)
    }

    #[test]
    fn settings_come_from_flags_a_file_and_variables() {
        let url = parse(
            "urlTemplate=http://a/{key},headers.X-A=b=c,timeout=2s,responsePath=d.e",
            &[],
        )
        .unwrap();
        assert_eq!(url.template, "http://a/{key}");
        assert_eq!(url.headers, [("X-A".to_owned(), "b=c".to_owned())]);
        assert_eq!(url.timeout, Duration::from_secs(2));
        assert_eq!(url.secret(br#"{"d": {"e": "s"}}"#).unwrap(), "s");
        assert!(url.secret(br#"{"d": 1}"#).unwrap_err().contains("d.e"));
        let url = parse("config=file", &[("K6_SECRET_SOURCE_URL_MAX_RETRIES", "1")]).unwrap();
        assert_eq!(
            (url.template.as_str(), url.max_retries),
            ("http://c/{key}", 7)
        );
        let variables = [
            ("K6_SECRET_SOURCE_URL_URL_TEMPLATE", "http://v/{key}"),
            ("K6_SECRET_SOURCE_URL_HEADER_X_B", "c"),
            ("OTHER", "x"),
        ];
        let url = parse("", &variables).unwrap();
        assert_eq!(url.template, "http://v/{key}");
        assert_eq!(url.headers, [("X-B".to_owned(), "c".to_owned())]);
        for wrong in [
            "",
            "urlTemplate=http://a/",
            "urlTemplate=http://a/{key},timeoot=1s",
            "x",
        ] {
            assert!(parse(wrong, &[]).is_err(), "{wrong}");
        }
        assert_eq!(escape("a/b c"), "a%2Fb%20c");
    }
}
