//! Secrets for scripts: their sources, and masking them in all output.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use plimsoll_http::Settings;
use plimsoll_samples::Mask;

pub use crate::secret_url::ReadText;
use crate::secret_url::SecretUrl;

/// The name of the source that `secrets.get` reads.
const DEFAULT: &str = "default";

/// The secrets of a run, by source.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: Vec<Source>,
    /// The secrets that a script has read.
    mask: Arc<Mask>,
    /// The secrets that were fetched, by the index of their source and by name.
    fetched: Mutex<HashMap<(usize, String), String>>,
}

#[derive(Debug, Default)]
struct Source {
    name: Option<String>,
    is_default: bool,
    secrets: HashMap<String, String>,
    /// The server that has the secrets.
    url: Option<SecretUrl>,
}

/// The location of a secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Here(String),
    /// On a server. [`Secrets::fetch`] gets it from the source with this index.
    Remote(usize),
}

impl Secrets {
    /// Opens the sources that `--secret-source` specifies, such as `file=secrets.txt` or `mock=name=other,key=value`.
    /// `read` reads a text file.
    ///
    /// # Errors
    /// If one of them is invalid or its file cannot be read.
    pub fn open(sources: &[String], read: &ReadText) -> Result<Secrets, String> {
        let mut opened = Vec::new();
        for text in sources {
            let source = Source::open(text, read)
                .map_err(|error| format!("--secret-source {}: {error}", shown(text)))?;
            if source.name.is_some()
                && opened
                    .iter()
                    .any(|other: &Source| other.name == source.name)
            {
                let name = source.name.unwrap_or_default();
                return Err(format!("two --secret-source have the name {name}"));
            }
            if source.is_default && opened.iter().any(|other| other.is_default) {
                return Err(
                    "two --secret-source are the default; give only one of them \"default\""
                        .to_owned(),
                );
            }
            opened.push(source);
        }
        if let [only] = opened.as_mut_slice() {
            only.is_default = true;
        }
        Ok(Secrets {
            sources: opened,
            mask: Arc::default(),
            fetched: Mutex::default(),
        })
    }

    /// Whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The secret `key` of the source with that name, or of the default source if it is `None`.
    ///
    /// # Errors
    /// If the source or the secret does not exist.
    pub fn get(&self, source: Option<&str>, key: &str) -> Result<Found, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".to_owned());
        }
        let name = source.unwrap_or(DEFAULT);
        let place = self.sources.iter().position(|source| {
            source.name.as_deref() == Some(name) || (name == DEFAULT && source.is_default)
        });
        let found = place.and_then(|place| Some((place, self.sources.get(place)?)));
        let Some((place, found)) = found else {
            return Err(format!(
                "no secret source with name \"{name}\" is configured"
            ));
        };
        if found.url.is_some() {
            let fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
            let known = fetched.get(&(place, key.to_owned())).cloned();
            return Ok(known.map_or(Found::Remote(place), Found::Here));
        }
        let secret = found.secrets.get(key).cloned().ok_or("no value")?;
        self.hide(&secret);
        Ok(Found::Here(secret))
    }

    /// Fetches a secret from a server. After that, [`Secrets::get`] returns it without another request.
    ///
    /// # Errors
    /// Why the secret could not be fetched.
    pub async fn fetch(
        &self,
        place: usize,
        key: &str,
        settings: &Settings,
    ) -> Result<String, String> {
        let source = self.sources.get(place);
        let url = source.and_then(|source| source.url.as_ref());
        let secret = url.ok_or("no value")?.fetch(key, settings).await?;
        self.hide(&secret);
        let mut fetched = self.fetched.lock().unwrap_or_else(PoisonError::into_inner);
        fetched.insert((place, key.to_owned()), secret.clone());
        Ok(secret)
    }

    /// Masks a secret, and its forms in URLs and in JSON, in all text.
    fn hide(&self, secret: &str) {
        self.mask.hide(secret);
        self.mask.hide(&in_url(secret));
        let quoted = serde_json::Value::from(secret).to_string();
        self.mask.hide(&quoted[1..quoted.len() - 1]);
    }

    /// Masks the secrets that were read. `None` if there are no sources.
    pub fn mask(&self) -> Option<&Arc<Mask>> {
        (!self.is_empty()).then_some(&self.mask)
    }
}

impl Source {
    fn open(text: &str, read: &ReadText) -> Result<Source, String> {
        let (kind, settings) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "file" => Source::file(settings, read),
            "mock" => Source::mock(settings),
            "url" => Source::url(settings, read),
            _ => Err(format!(
                "unknown type of secret source \"{kind}\"; use file=PATH, url=urlTemplate=URL or mock=KEY=VALUE"
            )),
        }
    }

    /// Reads `PATH`, or `name=NAME,filename=PATH`, with an optional `default`.
    fn file(settings: &str, read: &ReadText) -> Result<Source, String> {
        let mut source = Source::default();
        let mut path = "";
        for setting in settings.split(',') {
            match setting.split_once('=') {
                Some(("name", name)) => source.name = Some(name.to_owned()),
                Some(("filename", named)) => path = named,
                _ if setting == DEFAULT => source.is_default = true,
                _ => path = setting,
            }
        }
        if path.is_empty() {
            return Err("the path of the file is missing; write file=PATH".to_owned());
        }
        let content = read(Path::new(path)).map_err(|error| format!("{path}: {error}"))?;
        for (number, line) in content.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            // The line itself may be secret.
            let (key, secret) = line.split_once('=').ok_or_else(|| {
                format!(
                    "{path}:{}: the line is not of the form KEY=VALUE",
                    number + 1
                )
            })?;
            source.secrets.insert(key.to_owned(), secret.to_owned());
        }
        Ok(source)
    }

    /// Reads the settings of [`SecretUrl`], with an optional `name=NAME` and `default`.
    fn url(settings: &str, read: &ReadText) -> Result<Source, String> {
        let mut source = Source::default();
        let mut own = Vec::new();
        for setting in settings.split(',') {
            match setting.strip_prefix("name=") {
                Some(name) => source.name = Some(name.to_owned()),
                None if setting == DEFAULT => source.is_default = true,
                None => own.push(setting),
            }
        }
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        source.url = Some(SecretUrl::parse(&own.join(","), read, variables)?);
        Ok(source)
    }

    /// Reads `KEY=VALUE,…`, with an optional `name=NAME` and `default`.
    fn mock(settings: &str) -> Result<Source, String> {
        let mut source = Source::default();
        for setting in settings.split(',') {
            match setting.split_once('=') {
                Some(("name", name)) => source.name = Some(name.to_owned()),
                Some((key, secret)) => {
                    source.secrets.insert(key.to_owned(), secret.to_owned());
                }
                None if setting == DEFAULT => source.is_default = true,
                // The setting itself may be secret.
                None => return Err("a setting is not of the form KEY=VALUE".to_owned()),
            }
        }
        Ok(source)
    }
}

/// The result of `encodeURIComponent` for a string.
fn in_url(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => encoded.push(byte.into()),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'\'' | b'(' | b')' => {
                encoded.push(byte.into())
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

/// A source without its secrets, for messages.
fn shown(text: &str) -> &str {
    // Headers may be secret, too.
    ["mock", "url"]
        .into_iter()
        .find(|kind| text.starts_with(kind))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use plimsoll_samples::REDACTED;

    use super::*;

    fn open(sources: &[&str]) -> Result<Secrets, String> {
        Secrets::open(
            &sources
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>(),
            &|path| fs::read_to_string(path),
        )
    }

    fn here(secret: &str) -> Found {
        Found::Here(secret.to_owned())
    }

    #[test]
    fn a_single_source_is_the_default() {
        let secrets = open(&["mock=name=two,mine=cool,long=cool one"]).unwrap();
        assert_eq!(secrets.mask.apply("cool"), "cool");
        assert_eq!(secrets.get(None, "mine").unwrap(), here("cool"));
        assert_eq!(secrets.get(Some("two"), "long").unwrap(), here("cool one"));
        assert_eq!(secrets.get(None, "other").unwrap_err(), "no value");
        assert!(secrets.get(Some("none"), "mine").is_err());
        let redacted = secrets.mask.apply("a cool one, cooler");
        assert_eq!(redacted, format!("a {REDACTED}, {REDACTED}er"));
    }

    #[test]
    fn a_secret_is_also_masked_in_urls_and_in_json() {
        let secrets = open(&[r#"mock=key=a/"é b"#]).unwrap();
        assert!(secrets.mask().is_some());
        secrets.get(None, "key").unwrap();
        let text = r#"a/"é b a%2F%22%C3%A9%20b "a/\"é b""#;
        assert_eq!(
            secrets.mask.apply(text),
            format!("{REDACTED} {REDACTED} \"{REDACTED}\"")
        );
        assert!(open(&[]).unwrap().mask().is_none());
    }

    #[test]
    fn several_sources_need_a_default() {
        let secrets = open(&["mock=a=1", "mock=name=two,b=2"]).unwrap();
        assert!(secrets.get(None, "a").is_err());
        assert_eq!(secrets.get(Some("two"), "b").unwrap(), here("2"));
        let secrets = open(&["mock=a=1", "mock=b=2,default"]).unwrap();
        assert_eq!(secrets.get(None, "b").unwrap(), here("2"));
    }

    #[test]
    fn files_are_read_and_errors_show_no_secrets() {
        let folder = std::env::temp_dir().join(format!("secrets-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.txt");
        fs::write(&path, "a=x=y\n\nempty=\n").unwrap();
        let path = path.display().to_string();
        let secrets = open(&[&format!("file={path}")]).unwrap();
        assert_eq!(secrets.get(None, "a").unwrap(), here("x=y"));
        assert_eq!(secrets.get(None, "empty").unwrap(), here(""));
        fs::write(&path, "hidden\n").unwrap();
        let error = open(&[&format!("file=name=n,filename={path}")]).unwrap_err();
        assert!(
            error.contains("a.txt:1") && !error.contains("hidden"),
            "{error}"
        );
        fs::remove_dir_all(folder).unwrap();
        for wrong in [
            "file",
            "file=/none/at/all",
            "vault=x",
            "url=https://x",
            "mock",
            "mock=a",
        ] {
            assert!(open(&[wrong]).is_err(), "{wrong}");
        }
    }
}
