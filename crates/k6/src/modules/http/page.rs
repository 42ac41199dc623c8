//! Methods for responses that are HTML pages: `html`, `clickLink` and `submitForm`.

use plimsoll_http::{Method, Url};
use plimsoll_quickjs::{Call, Context, Returned, Thrown, Value};

use super::response::Response;
use super::send;
use crate::modules::html::Selection;
use crate::pure::form;
use crate::pure::html::{self, Node, Selectors};

/// `response.html(selector?)`.
pub fn html<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (page, url) = page(context, call)?;
    let selector = call.argument(0);
    let found = match selector.is_nullish() {
        true => vec![page],
        false => find(&page, &selector.to_text()?),
    };
    Selection::of(found).object(context, context.string(url.as_str())?)
}

/// `response.clickLink({ selector, params })`: requests the target of a link.
pub fn click_link<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (page, url) = page(context, call)?;
    let options = options(context, call)?;
    let selector = option(&options, "selector", "a[href]")?;
    let Some(link) = find(&page, &selector).into_iter().next() else {
        return Err(context.throw_plain(format!(
            "no element found for selector '{selector}' in response '{}'",
            url.as_str()
        )));
    };
    let Some(href) = link.attribute("href") else {
        return Err(context.throw_plain(format!(
            "no valid href attribute value found on element '{selector}' in response '{}'",
            url.as_str()
        )));
    };
    let target = resolve(context, &url, href)?;
    let params = options_of(&options, "params")?;
    send::request(
        context,
        Method::Get,
        &context.string(target.as_str())?,
        &context.undefined(),
        &params,
    )
}

/// `response.submitForm({ formSelector, submitSelector, fields, params })`: submits a form as a browser would.
pub fn submit_form<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let (page, url) = page(context, call)?;
    let options = options(context, call)?;
    let selector = option(&options, "formSelector", "form")?;
    let Some(form) = find(&page, &selector).into_iter().next() else {
        return Err(context.throw_plain(format!(
            "no form found for selector '{selector}' in response '{}'",
            url.as_str()
        )));
    };
    let target = match form.attribute("action") {
        Some(action) => resolve(context, &url, action)?,
        None => url,
    };
    let values = crate::modules::html::serialize_object(context, std::slice::from_ref(&form))?;
    let submit = option(&options, "submitSelector", "[type=\"submit\"]")?;
    // The value of the pressed button is sent as well.
    if let Some(button) = find(&form, &submit).into_iter().next()
        && let Some(name) = button.attribute("name")
    {
        let value = button.attribute("value").unwrap_or_default();
        values.set(name, context.string(value)?)?;
    }
    let fields = options_of(&options, "fields")?;
    for (name, value) in fields.entries()? {
        values.set(name.as_str(), value)?;
    }
    let params = options_of(&options, "params")?;
    let method = form.attribute("method").unwrap_or("get");
    let target = context.string(target.as_str())?;
    if method.eq_ignore_ascii_case("get") {
        let target = with_query(&target.to_text()?, &values)?;
        return send::request(
            context,
            Method::Get,
            &context.string(&target)?,
            &context.undefined(),
            &params,
        );
    }
    let method = match method.to_ascii_uppercase() {
        // As in k6, the fields are then sent in the body.
        method if method.is_empty() => Method::Get,
        method => Method::parse(&method).unwrap_or(Method::Post),
    };
    send::request(context, method, &target, &values, &params)
}

/// The page of the response that a method was called on, and its URL.
fn page(context: &Context, call: &Call<'_>) -> Result<(Node, Url), Thrown> {
    let this = call.this();
    let Some(response) = this.instance::<Response>() else {
        return Err(context.throw_type("a method of responses"));
    };
    let Some((text, url)) = response.page(context)? else {
        return Err(context.throw_plain(
            "the body is null, so it is not HTML: the request failed, or its responseType is \"none\"",
        ));
    };
    Ok((html::parse(&text), url))
}

fn find(page: &Node, selector: &str) -> Vec<Node> {
    let Some(selectors) = Selectors::parse(selector) else {
        return Vec::new();
    };
    page.descendants()
        .filter(|node| selectors.matches(node))
        .collect()
}

fn resolve(context: &Context, url: &Url, reference: &str) -> Result<Url, Thrown> {
    url.join(reference)
        .map_err(|error| context.throw_plain(error.to_string()))
}

/// The argument. It may be missing, but not null.
fn options<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let options = call.argument(0);
    if call.count() > 0 && options.is_nullish() {
        return Err(context.throw_type("Cannot convert undefined or null to object"));
    }
    Ok(options.clone())
}

fn options_of<'c>(options: &Value<'c>, key: &str) -> Returned<'c> {
    match options.is_object() {
        true => options.get(key),
        false => Ok(options.context().undefined()),
    }
}

fn option(options: &Value<'_>, key: &str, default: &str) -> Result<String, Thrown> {
    let value = options_of(options, key)?;
    match value.is_nullish() {
        true => Ok(default.to_owned()),
        false => Ok(value.to_text()?.into_string()),
    }
}

/// The URL with the values as its query. As in k6, they are sorted by name.
fn with_query(url: &str, values: &Value<'_>) -> Result<String, Thrown> {
    let mut pairs = Vec::new();
    for (name, value) in values.entries()? {
        if value.is_array() {
            for index in 0..u32::try_from(value.length()?).unwrap_or(u32::MAX) {
                pairs.push((name.clone(), value.at(index)?.to_text()?.into_string()));
            }
        } else {
            pairs.push((name, value.to_text()?.into_string()));
        }
    }
    pairs.sort_by(|one, other| one.0.cmp(&other.0));
    let query: Vec<String> = pairs
        .iter()
        .map(|(name, value)| form::pair(name, value))
        .collect();
    let (url, fragment) = url.split_at(url.find('#').unwrap_or(url.len()));
    let bare = url.split('?').next().unwrap_or_default();
    Ok(format!("{bare}?{}{fragment}", query.join("&")))
}
