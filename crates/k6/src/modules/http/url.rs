//! `` http.url`…${x}…` ``: a URL whose samples are named after its fixed parts.

use std::rc::Rc;

use plimsoll_quickjs::{Call, Class, Context, Entry, Returned};

/// A URL with the name for its samples.
pub struct TaggedUrl {
    pub url: String,
    pub name: Rc<str>,
}

impl Class for TaggedUrl {
    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"toString", 0, to_string)];
        ENTRIES
    }
}

/// `` http.url`http://host/${id}` ``: called with the fixed parts and the values between them.
pub fn url<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let parts = call.argument(0);
    if parts.is_string() {
        return make(
            context,
            parts.to_text()?.into_string(),
            parts.to_text()?.into_string(),
        );
    }
    let (mut url, mut name) = (String::new(), String::new());
    for place in 0..parts.length()? {
        let part = parts.at(place as u32)?;
        let part = part.to_text()?;
        url.push_str(&part);
        name.push_str(&part);
        if place + 1 < call.count() as u64 {
            url.push_str(&call.argument(place as usize + 1).to_text()?);
            name.push_str("${}");
        }
    }
    make(context, url, name)
}

fn make(context: &Context, url: String, name: String) -> Returned<'_> {
    let object = context.instance(TaggedUrl {
        url: url.clone(),
        name: name.as_str().into(),
    })?;
    object.define("name", context.string(&name)?)?;
    object.define("url", context.string(&url)?)?;
    object.define(
        "clean_url",
        context.string(&plimsoll_samples::mask_userinfo(&url))?,
    )?;
    Ok(object)
}

fn to_string<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<TaggedUrl>() {
        Some(tagged) => context.string(&tagged.url),
        None => Err(context.throw_type("not a URL made by http.url")),
    }
}
