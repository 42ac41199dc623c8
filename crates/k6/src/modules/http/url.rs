//! `` http.url`…${x}…` ``: a URL whose samples are named after its fixed parts.

use std::rc::Rc;

use plimsoll_quickjs::{Atom, Call, Class, Context, Entry, InImage, Returned, Thrown, Value};

/// A URL with the name for its samples.
pub struct TaggedUrl {
    pub url: String,
    pub name: Rc<str>,
}

impl Class for TaggedUrl {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"clean", 0, |context, call| {
                context.string(&plimsoll_samples::mask_userinfo(&tagged(context, call)?))
            }),
            Entry::function(c"getURL", 0, |context, call| {
                context.string(&tagged(context, call)?)
            }),
        ];
        ENTRIES
    }

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        let value = match key.text().as_str() {
            "name" => context.string(&self.name)?,
            "url" => context.string(&self.url)?,
            "clean_url" => context.string(&plimsoll_samples::mask_userinfo(&self.url))?,
            _ => return Ok(None),
        };
        Ok(Some(value))
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        Ok(context.keys(["name", "url", "clean_url"]))
    }
}

fn tagged(context: &Context, call: &Call<'_>) -> Result<String, Thrown> {
    match call.this().instance::<TaggedUrl>() {
        Some(tagged) => Ok(tagged.url.clone()),
        None => Err(context.throw_type("not a URL made by http.url")),
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
            let value = call.argument(place as usize + 1);
            if !value.is_nullish() {
                url.push_str(&value.to_text()?);
            }
            name.push_str("${}");
        }
    }
    make(context, url, name)
}

fn make(context: &Context, url: String, name: String) -> Returned<'_> {
    let name = name.into();
    context.instance(TaggedUrl { url, name })
}
