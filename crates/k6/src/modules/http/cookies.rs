//! `http.cookieJar` and `http.CookieJar`.

use std::rc::Rc;
use std::time::SystemTime;

use plimsoll_http::{Cookie, CookieJar, Url};
use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};

use crate::user::user;

/// A script's cookie jar.
pub struct Jar(pub Rc<CookieJar>);

impl Class for Jar {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, jar| Jar(Rc::new((*jar.0).clone())));

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"clear", 1, clear),
            Entry::function(c"cookiesForURL", 1, cookies_for_url),
            Entry::function(c"delete", 2, delete),
            Entry::function(c"set", 4, set),
        ];
        ENTRIES
    }
}

/// `http.cookieJar()`: the user's own jar.
pub fn cookie_jar<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    user.working(context, "Making cookie jars")?;
    context.instance(Jar(Rc::clone(&user.cookies)))
}

/// `new http.CookieJar()`: an additional jar.
pub fn new_jar<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    context.instance(Jar(Rc::default()))
}

fn jar_and_url<'c>(context: &'c Context, call: &Call<'c>) -> Result<(Rc<CookieJar>, Url), Thrown> {
    let Some(jar) = call.this().instance::<Jar>().map(|jar| Rc::clone(&jar.0)) else {
        return Err(context.throw_type("not a cookie jar"));
    };
    let url = text(&call.argument(0))?;
    let url = Url::parse(&url).map_err(|error| context.throw_plain(error.to_string()))?;
    Ok((jar, url))
}

/// An argument as a string. Empty if it is missing.
fn text(value: &Value<'_>) -> Result<String, Thrown> {
    match value.is_nullish() {
        true => Ok(String::new()),
        false => Ok(value.to_text()?.into_string()),
    }
}

/// `jar.cookiesForURL(url)`: `{ name: [values] }`.
fn cookies_for_url<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (jar, url) = jar_and_url(context, call)?;
    let found = context.object()?;
    for (name, value) in jar.cookies_for_url(&url) {
        let values = found.get(name.as_str())?;
        let value = context.string(&value)?;
        if values.is_array() {
            values.set(values.length()? as u32, value)?;
        } else {
            found.define(name.as_str(), context.array([value])?)?;
        }
    }
    Ok(found)
}

/// `jar.set(url, name, value, { domain, path, expires, max_age, secure, http_only })`.
fn set<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (jar, url) = jar_and_url(context, call)?;
    let mut cookie = Cookie {
        name: text(&call.argument(1))?,
        value: text(&call.argument(2))?,
        ..Cookie::default()
    };
    let options = call.argument(3);
    for (key, value) in options.entries()? {
        match key.to_ascii_lowercase().as_str() {
            "domain" => cookie.domain = Some(value.to_text()?.into_string()),
            "path" => cookie.path = Some(value.to_text()?.into_string()),
            "expires" => cookie.expires = read_expires(context, &value)?,
            // 0 means that no age is set. A negative value means "expire now".
            "max_age" => cookie.max_age = Some(value.to_integer()?).filter(|age| *age != 0),
            "secure" => cookie.secure = value.is_truthy(),
            "http_only" => cookie.http_only = value.is_truthy(),
            _ => {}
        }
    }
    // A URL without a host has no cookies.
    if !url.host().is_empty() {
        jar.set(&url, &cookie);
    }
    Ok(context.bool(true))
}

/// Parses a date such as `Mon, 02 Jan 2006 15:04:05 MST`. An empty string means no date.
fn read_expires(context: &Context, value: &Value<'_>) -> Result<Option<SystemTime>, Thrown> {
    let text = value.to_text()?;
    if text.is_empty() {
        return Ok(None);
    }
    match plimsoll_http::cookie_date(&text) {
        Some(date) => Ok(Some(date)),
        None => Err(context.throw_plain(format!(
            "cannot read the cookie's expires {:?}; write it like Mon, 02 Jan 2006 15:04:05 GMT",
            &*text
        ))),
    }
}

/// `jar.clear(url)`.
fn clear<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (jar, url) = jar_and_url(context, call)?;
    jar.clear(&url);
    Ok(context.undefined())
}

/// `jar.delete(url, name)`.
fn delete<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (jar, url) = jar_and_url(context, call)?;
    let name = text(&call.argument(1))?;
    if name.is_empty() {
        return Err(context.throw_plain("delete() needs the name of a cookie"));
    }
    jar.delete(&url, &name);
    Ok(context.undefined())
}
