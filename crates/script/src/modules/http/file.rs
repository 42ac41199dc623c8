use crate::quickjs::{Call, Class, Context, Entry, Returned, Slot};

/// What `http.file()` gives: a part of a multipart body.
#[derive(Default)]
pub(super) struct FileData {
    pub data: Vec<u8>,
    pub filename: String,
    pub content_type: String,
    slots: [Slot; 1],
}

static PROTOTYPE: &[Entry] = &[
    Entry::getter(c"data", data),
    Entry::getter(c"filename", filename),
    Entry::getter(c"content_type", content_type),
];

impl Class for FileData {
    fn prototype() -> &'static [Entry] {
        PROTOTYPE
    }

    fn slots(&self) -> &[Slot] {
        &self.slots
    }
}

pub(super) fn file<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let data = call.argument(0);
    let bytes = match data.to_bytes() {
        Some(bytes) => bytes,
        None if data.is_string() => data.to_text()?.as_bytes().to_vec(),
        None => {
            return Err(context.throw_type(
                "invalid type for the data of a file: it must be a string, an ArrayBuffer or a typed array",
            ));
        }
    };
    let filename = match call.argument(1) {
        name if name.is_nullish() => format!("{}", clock::now().as_nanos()),
        name => name.to_text()?.into_string(),
    };
    let content_type = match call.argument(2) {
        kind if kind.is_nullish() => "application/octet-stream".to_owned(),
        kind => kind.to_text()?.into_string(),
    };
    let slots = [Slot::empty()];
    slots[0].set((*data).clone());
    context.instance(FileData { data: bytes, filename, content_type, slots })
}

fn with<'c>(
    context: &'c Context,
    call: &Call<'c>,
    body: impl FnOnce(&FileData) -> Returned<'c>,
) -> Returned<'c> {
    match call.this().instance::<FileData>() {
        Some(file) => body(&file),
        None => Ok(context.undefined()),
    }
}

fn data<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |file| {
        Ok(file.slots[0].get(context).unwrap_or_else(|| context.undefined()))
    })
}

fn filename<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |file| context.string(&file.filename))
}

fn content_type<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    with(context, call, |file| context.string(&file.content_type))
}
