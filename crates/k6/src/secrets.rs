//! Secrets for scripts: where they come from, and keeping them out of the log.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// The replacement for secrets in the log.
const REDACTED: &str = "***SECRET_REDACTED***";

/// The name of the source that `secrets.get` reads.
const DEFAULT: &str = "default";

/// Reads a file of text.
pub type ReadText = dyn Fn(&Path) -> io::Result<String>;

/// The secrets of a run, by source.
#[derive(Debug, Default)]
pub struct Secrets {
    sources: Vec<Source>,
    /// The secrets that a script has read, which the log must not show.
    read: RwLock<Vec<String>>,
}

#[derive(Debug, Default)]
struct Source {
    name: Option<String>,
    is_default: bool,
    secrets: HashMap<String, String>,
}

impl Secrets {
    /// The sources that `--secret-source` names, such as `file=secrets.txt` or
    /// `mock=name=other,key=value`. `read` reads a file of text.
    ///
    /// # Errors
    /// If one of them is invalid or its file cannot be read.
    pub fn open(sources: &[String], read: &ReadText) -> Result<Secrets, String> {
        let mut opened = Vec::new();
        for text in sources {
            let source = Source::open(text, read)
                .map_err(|error| format!("--secret-source {}: {error}", shown(text)))?;
            opened.push(source);
        }
        if let [only] = opened.as_mut_slice() {
            only.is_default = true;
        }
        Ok(Secrets {
            sources: opened,
            read: RwLock::default(),
        })
    }

    /// Whether there are no sources.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// The secret `key` of the source with that name; `None` for the default source.
    ///
    /// # Errors
    /// If the source or the secret does not exist.
    pub fn get(&self, source: Option<&str>, key: &str) -> Result<String, String> {
        if self.sources.is_empty() {
            return Err("no secret sources are configured".to_owned());
        }
        let name = source.unwrap_or(DEFAULT);
        let found = self.sources.iter().find(|source| {
            source.name.as_deref() == Some(name) || (name == DEFAULT && source.is_default)
        });
        let Some(found) = found else {
            return Err(format!(
                "no secret source with name \"{name}\" is configured"
            ));
        };
        let secret = found.secrets.get(key).cloned().ok_or("no value")?;
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        if !secret.is_empty() && !read.contains(&secret) {
            read.push(secret.clone());
            // A secret may contain another one.
            read.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        }
        Ok(secret)
    }

    /// `text` without the secrets that were read.
    pub fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
        let mut redacted = Cow::Borrowed(text);
        for secret in read.iter() {
            if redacted.contains(secret) {
                redacted = Cow::Owned(redacted.replace(secret, REDACTED));
            }
        }
        redacted
    }
}

impl Source {
    fn open(text: &str, read: &ReadText) -> Result<Source, String> {
        let (kind, settings) = text.split_once('=').unwrap_or((text, ""));
        match kind {
            "file" => Source::file(settings, read),
            "mock" => Ok(Source::mock(settings)),
            "url" => {
                Err("secrets from URLs are not supported; use file=PATH or mock=KEY=VALUE".into())
            }
            _ => Err(format!(
                "there are no secrets of the kind \"{kind}\"; use file=PATH or mock=KEY=VALUE"
            )),
        }
    }

    /// `PATH`, or `name=NAME,filename=PATH`, with an optional `default`.
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

    /// `KEY=VALUE,…`, with an optional `name=NAME` and `default`.
    fn mock(settings: &str) -> Source {
        let mut source = Source::default();
        for setting in settings.split(',') {
            match setting.split_once('=') {
                Some(("name", name)) => source.name = Some(name.to_owned()),
                Some((key, secret)) => {
                    source.secrets.insert(key.to_owned(), secret.to_owned());
                }
                None if setting == DEFAULT => source.is_default = true,
                None => {}
            }
        }
        source
    }
}

/// A source without its secrets, for messages.
fn shown(text: &str) -> &str {
    match text.starts_with("mock") {
        true => "mock",
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

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

    #[test]
    fn a_single_source_is_the_default() {
        let secrets = open(&["mock=name=two,mine=cool,long=cool one"]).unwrap();
        assert_eq!(secrets.redact("cool"), "cool");
        assert_eq!(secrets.get(None, "mine").unwrap(), "cool");
        assert_eq!(secrets.get(Some("two"), "long").unwrap(), "cool one");
        assert_eq!(secrets.get(None, "other").unwrap_err(), "no value");
        assert!(secrets.get(Some("none"), "mine").is_err());
        let redacted = secrets.redact("a cool one, cooler");
        assert_eq!(redacted, format!("a {REDACTED}, {REDACTED}er"));
    }

    #[test]
    fn several_sources_need_a_default() {
        let secrets = open(&["mock=a=1", "mock=name=two,b=2"]).unwrap();
        assert!(secrets.get(None, "a").is_err());
        assert_eq!(secrets.get(Some("two"), "b").unwrap(), "2");
        let secrets = open(&["mock=a=1", "mock=b=2,default"]).unwrap();
        assert_eq!(secrets.get(None, "b").unwrap(), "2");
    }

    #[test]
    fn files_are_read_and_errors_show_no_secrets() {
        let folder = std::env::temp_dir().join(format!("secrets-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.txt");
        fs::write(&path, "a=x=y\n\nempty=\n").unwrap();
        let path = path.display().to_string();
        let secrets = open(&[&format!("file={path}")]).unwrap();
        assert_eq!(secrets.get(None, "a").unwrap(), "x=y");
        assert_eq!(secrets.get(None, "empty").unwrap(), "");
        fs::write(&path, "hidden\n").unwrap();
        let error = open(&[&format!("file=name=n,filename={path}")]).unwrap_err();
        assert!(
            error.contains("a.txt:1") && !error.contains("hidden"),
            "{error}"
        );
        fs::remove_dir_all(folder).unwrap();
        for wrong in ["file", "file=/none/at/all", "vault=x", "url=https://x"] {
            assert!(open(&[wrong]).is_err(), "{wrong}");
        }
    }
}
