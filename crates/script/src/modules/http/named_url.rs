use crate::quickjs::{Call, Class, Context, Entry, Returned};

/// What ``http.url`…${x}…` `` gives: an address, and a name in which what
/// varies is left out.
pub(super) struct NamedUrl {
    pub url: String,
    pub name: String,
}

static PROTOTYPE: &[Entry] = &[
    Entry::getter(c"url", address),
    Entry::getter(c"name", name),
    Entry::function(c"toString", 0, address),
];

impl Class for NamedUrl {
    fn prototype() -> &'static [Entry] {
        PROTOTYPE
    }
}

/// A template's tag: the literal pieces, then what stood between them.
pub(super) fn url<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let pieces = call.argument(0);
    if pieces.is_string() {
        let url = pieces.to_text()?.into_string();
        return context.instance(NamedUrl { name: url.clone(), url });
    }
    if !pieces.is_object() {
        return Err(context.throw_type("http.url is a template's tag: write http.url`http://host/${id}`"));
    }
    let (mut url, mut name) = (String::new(), String::new());
    let count = pieces.length()?;
    for place in 0..u32::try_from(count).unwrap_or(u32::MAX) {
        let piece = pieces.at(place)?;
        let piece = piece.to_text()?;
        url.push_str(&piece);
        name.push_str(&piece);
        if u64::from(place) + 1 < count {
            url.push_str(&call.argument(place as usize + 1).to_text()?);
            name.push_str("${}");
        }
    }
    context.instance(NamedUrl { url, name })
}

fn address<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<NamedUrl>() {
        Some(this) => context.string(&this.url),
        None => Ok(context.undefined()),
    }
}

fn name<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<NamedUrl>() {
        Some(this) => context.string(&this.name),
        None => Ok(context.undefined()),
    }
}
