use std::rc::Rc;
use std::time::Duration;

use http::{Auth, CookieJar, Encoding, Fields, RequestCookie};

use super::cookies::Jar;
use super::expected::{self, Expected};
use crate::quickjs::{Context, Thrown, Value};

/// The params of one request, read.
#[derive(Default)]
pub(super) struct Params {
    pub headers: Fields,
    /// The tag `name`, which stands in for the URL in samples.
    pub name: Option<String>,
    pub tags: Vec<(String, String)>,
    pub cookies: Vec<RequestCookie>,
    pub jar: Option<Rc<CookieJar>>,
    pub timeout: Option<Duration>,
    pub redirects: Option<u32>,
    pub compression: Vec<Encoding>,
    pub auth: Auth,
    pub response_type: Option<ResponseType>,
    pub expected: Option<Rc<Expected>>,
    pub throw: Option<bool>,
}

/// What becomes of an answer's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseType {
    Text,
    Binary,
    None,
}

impl Params {
    /// Reads what a script passed; nothing stands for the defaults.
    pub fn read<'c>(context: &'c Context, value: &Value<'c>) -> Result<Params, Thrown> {
        let mut params = Params::default();
        if !value.is_object() {
            return Ok(params);
        }
        for (key, value) in value.entries()? {
            if !value.is_nullish() || key == "responseCallback" {
                params.read_key(context, &key, &value)?;
            }
        }
        Ok(params)
    }

    fn read_key<'c>(&mut self, context: &'c Context, key: &str, value: &Value<'c>) -> Result<(), Thrown> {
        match key {
            "headers" => self.read_headers(context, value),
            "tags" => self.read_tags(context, value),
            "cookies" => self.read_cookies(value),
            "jar" => {
                self.jar = value.instance::<Jar>().map(|jar| Rc::clone(&jar.0));
                Ok(())
            }
            "timeout" => {
                self.timeout = Some(duration(context, value)?);
                Ok(())
            }
            "redirects" => {
                self.redirects = Some(u32::try_from(value.to_integer()?.max(0)).unwrap_or(u32::MAX));
                Ok(())
            }
            "compression" => self.read_compression(context, value),
            "auth" => self.read_auth(context, value),
            "responseType" => {
                self.response_type = Some(match &*value.to_text()? {
                    "text" => ResponseType::Text,
                    "binary" => ResponseType::Binary,
                    "none" => ResponseType::None,
                    other => {
                        return Err(context.throw_plain(format!(
                            "{other} does not belong to ResponseType values, perhaps try [text, binary, none]"
                        )));
                    }
                });
                Ok(())
            }
            "responseCallback" => {
                if !value.is_undefined() {
                    self.expected = Some(expected::read(context, value, "responseCallback")?);
                }
                Ok(())
            }
            "throw" => {
                self.throw = Some(value.is_truthy());
                Ok(())
            }
            // k6 takes no notice of other keys either.
            _ => Ok(()),
        }
    }

    fn read_headers<'c>(&mut self, context: &'c Context, value: &Value<'c>) -> Result<(), Thrown> {
        if !value.is_object() {
            return Ok(());
        }
        for (name, value) in value.entries()? {
            let text = value.to_text()?;
            self.headers
                .set(&name, &text)
                .map_err(|error| context.throw_plain(format!("header {name}: {error}")))?;
        }
        Ok(())
    }

    fn read_tags<'c>(&mut self, context: &'c Context, value: &Value<'c>) -> Result<(), Thrown> {
        if !value.is_object() {
            return Err(context.throw_type("invalid type for tags: it must be an object"));
        }
        for (name, value) in value.entries()? {
            if value.is_nullish() {
                continue;
            }
            if value.is_object() || value.is_symbol() {
                return Err(context.throw_type(format!(
                    "invalid value for metric tag '{name}': only String, Boolean and Number types are accepted as a metric tag values"
                )));
            }
            let text = value.to_text()?.into_string();
            if name == "name" {
                self.name = Some(text);
            } else {
                self.tags.push((name, text));
            }
        }
        Ok(())
    }

    fn read_cookies(&mut self, value: &Value<'_>) -> Result<(), Thrown> {
        if !value.is_object() {
            return Ok(());
        }
        for (name, value) in value.entries()? {
            let (text, replace) = if value.is_object() {
                (value.get("value")?.to_text()?.into_string(), value.get("replace")?.is_truthy())
            } else {
                (value.to_text()?.into_string(), false)
            };
            self.cookies.push(RequestCookie { name, value: text, replace });
        }
        Ok(())
    }

    fn read_compression<'c>(&mut self, context: &'c Context, value: &Value<'c>) -> Result<(), Thrown> {
        let text = value.to_text()?;
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let encoding = Encoding::parse(name).ok_or_else(|| {
                context.throw_plain(format!(
                    "unknown compression algorithm {name}, supported algorithms are [gzip deflate zstd br]"
                ))
            })?;
            self.compression.push(encoding);
        }
        Ok(())
    }

    fn read_auth<'c>(&mut self, context: &'c Context, value: &Value<'c>) -> Result<(), Thrown> {
        self.auth = match &*value.to_text()? {
            "digest" => Auth::Digest,
            "ntlm" => Auth::Ntlm,
            "basic" | "" => Auth::Basic,
            other => {
                return Err(context.throw_plain(format!("unknown auth \"{other}\": use digest or basic")));
            }
        };
        Ok(())
    }
}

/// A number of milliseconds, or a duration like `1m30s`.
fn duration<'c>(context: &'c Context, value: &Value<'c>) -> Result<Duration, Thrown> {
    let text = value.to_text()?;
    units::duration::parse(&text)
        .map_err(|error| context.throw_plain(format!("invalid timeout value: {error}")))
}
