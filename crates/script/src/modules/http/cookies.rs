use std::rc::Rc;
use std::time::{Duration, SystemTime};

use http::{Cookie, CookieJar, Url};

use crate::quickjs::{Call, Class, Context, Entry, Returned, Thrown, Value};
use crate::user::user;

/// A cookie jar as scripts hold it.
pub(super) struct Jar(pub Rc<CookieJar>);

static PROTOTYPE: &[Entry] = &[
    Entry::function(c"cookiesForURL", 1, cookies_for_url),
    Entry::function(c"set", 4, set),
    Entry::function(c"clear", 1, clear),
    Entry::function(c"delete", 2, delete),
];

impl Class for Jar {
    fn prototype() -> &'static [Entry] {
        PROTOTYPE
    }
}

/// `new http.CookieJar()`.
pub(super) fn new<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    context.instance(Jar(Rc::new(CookieJar::new())))
}

/// `http.cookieJar()`: the user's own.
pub(super) fn current<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    user.working(context, "getting cookie jars")?;
    context.instance(Jar(Rc::clone(&user.cookies)))
}

fn with<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&CookieJar, &Url) -> Returned<'c>,
) -> Returned<'c> {
    let this = call.this();
    let Some(jar) = this.instance::<Jar>() else {
        return Err(context.throw_type("a method of a cookie jar was called on something else"));
    };
    let text = call.argument(0).to_text()?;
    let url = Url::parse(&text)
        .map_err(|error| context.throw_plain(format!("invalid URL \"{}\": {error}", &*text)))?;
    body(&jar.0, &url)
}

fn cookies_for_url<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |jar, url| {
        let object = context.object()?;
        let cookies = jar.cookies_for_url(url);
        for (place, (name, _)) in cookies.iter().enumerate() {
            // Every value of a name under its first mention.
            if cookies[..place].iter().any(|(earlier, _)| earlier == name) {
                continue;
            }
            let values = cookies.iter().filter(|(other, _)| other == name).map(|(_, value)| value);
            object.define(name.as_str(), context.strings(values)?)?;
        }
        Ok(object)
    })
}

fn set<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (name, value) = (call.argument(1).to_text()?, call.argument(2).to_text()?);
    let mut cookie =
        Cookie { name: name.into_string(), value: value.into_string(), ..Cookie::default() };
    let attributes = call.argument(3);
    if attributes.is_object() {
        for (key, value) in attributes.entries()? {
            read_attribute(context, &mut cookie, &key, &value)?;
        }
    }
    with(context, call, |jar, url| {
        jar.set(url, &cookie);
        Ok(context.bool(true))
    })
}

fn read_attribute<'c>(
    context: &'c Context,
    cookie: &mut Cookie,
    key: &str,
    value: &Value<'c>,
) -> Result<(), Thrown> {
    match key {
        "path" => cookie.path = Some(value.to_text()?.into_string()),
        "domain" => cookie.domain = Some(value.to_text()?.into_string()),
        "expires" => {
            let text = value.to_text()?;
            if !text.is_empty() {
                cookie.expires = Some(rfc1123(context, &text)?);
            }
        }
        "max_age" => cookie.max_age = Some(value.to_integer()?),
        "secure" => cookie.secure = value.is_truthy(),
        "http_only" => cookie.http_only = value.is_truthy(),
        _ => {}
    }
    Ok(())
}

/// A date like `Mon, 02 Jan 2006 15:04:05 MST`: RFC 1123.
fn rfc1123<'c>(context: &'c Context, text: &str) -> Result<SystemTime, Thrown> {
    // The Set-Cookie syntax has the same dates, and its parser is at hand.
    let parsed = Cookie::parse(format!("a=b; Expires={text}").as_bytes()).and_then(|c| c.expires);
    parsed.ok_or_else(|| {
        context.throw_plain(format!(
            "unable to parse \"expires\" date string \"{text}\" with format \"Mon, 02 Jan 2006 15:04:05 MST\""
        ))
    })
}

fn clear<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |jar, url| {
        jar.clear(url);
        Ok(context.undefined())
    })
}

fn delete<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let name = call.argument(1).to_text()?;
    with(context, call, |jar, url| {
        jar.delete(url, &name);
        Ok(context.undefined())
    })
}

/// An answer's cookie, as `response.cookies` shows it.
pub(super) fn show<'c>(context: &'c Context, cookie: &Cookie) -> Returned<'c> {
    let object = context.object()?;
    let expires = cookie
        .expires
        .and_then(|date| date.duration_since(SystemTime::UNIX_EPOCH).ok())
        .map_or(0.0, |since: Duration| since.as_millis() as f64);
    object.define("name", context.string(&cookie.name)?)?;
    object.define("value", context.string(&cookie.value)?)?;
    object.define("domain", context.string(cookie.domain.as_deref().unwrap_or(""))?)?;
    object.define("path", context.string(cookie.path.as_deref().unwrap_or(""))?)?;
    object.define("http_only", context.bool(cookie.http_only))?;
    object.define("secure", context.bool(cookie.secure))?;
    object.define("max_age", context.number(cookie.max_age.unwrap_or(0) as f64))?;
    object.define("expires", context.number(expires))?;
    Ok(object)
}
