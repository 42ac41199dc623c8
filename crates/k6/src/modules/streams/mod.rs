//! `k6/experimental/streams`: streams of the Streams Standard, written in JavaScript.
//!
//! The sources are compiled once per process. Only users that import the module run them.

use std::rc::Rc;
use std::sync::OnceLock;

use plimsoll_quickjs::{
    Bytecode, Class, Context, Entry, InImage, Persistent, Returned, SourceText, Thrown, Value,
};

use super::{BuiltIn, Shape};
use crate::user::user;

const NAMES: &[&str] = &[
    "ByteLengthQueuingStrategy",
    "CountQueuingStrategy",
    "ReadableStream",
    "ReadableStreamDefaultReader",
    "WritableStream",
    "WritableStreamDefaultWriter",
];

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/experimental/streams",
    shape: Shape::Names,
    entries: &[],
    made: NAMES,
    make: Some(make),
};

fn make<'c>(context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
    let classes = classes(context)?;
    for name in NAMES {
        exports.define(*name, classes.get(*name)?)?;
    }
    Ok(())
}

/// The classes of this user, created on first use.
fn classes(context: &Context) -> Returned<'_> {
    const KEY: &str = "k6/experimental/streams classes";
    static READABLE: OnceLock<Bytecode> = OnceLock::new();
    static WRITABLE: OnceLock<Bytecode> = OnceLock::new();
    let user = user(context);
    if let Some(kept) = user.modules.get(KEY) {
        return Ok(kept.restore(context));
    }
    let readable = run(context, &READABLE, include_str!("readable.js"), &[])?;
    let (classes, tools) = (readable.at(0)?, readable.at(1)?);
    let writable = run(context, &WRITABLE, include_str!("writable.js"), &[&tools])?;
    for (name, class) in writable.entries()? {
        classes.define(name.as_str(), class)?;
    }
    user.modules
        .insert(KEY.to_owned(), Persistent::new(&classes));
    Ok(classes)
}

/// Calls the function that a source evaluates to.
fn run<'c>(
    context: &'c Context,
    code: &OnceLock<Bytecode>,
    source: &str,
    arguments: &[&Value<'c>],
) -> Returned<'c> {
    let code = match code.get() {
        Some(code) => code,
        None => {
            let compiled = Bytecode::of_script(context, source, MODULE.name, SourceText::Dropped)?;
            code.get_or_init(|| compiled)
        }
    };
    context.run(code)?.call(&context.undefined(), arguments)
}

/// A `ReadableStream` of these bytes, as one `Uint8Array`.
pub fn of_bytes(context: &Context, bytes: Rc<[u8]>) -> Returned<'_> {
    let source = context.instance(Source(bytes))?;
    let stream = classes(context)?.get("ReadableStream")?;
    stream.construct(&[&source])
}

/// The underlying source of a stream of bytes.
struct Source(Rc<[u8]>);

impl Class for Source {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"start", 1, |context, call| {
            let (this, controller) = (call.this(), call.argument(0));
            if let Some(source) = this.instance::<Source>()
                && !source.0.is_empty()
            {
                let chunk = context.uint8_array(&source.0)?;
                controller.get("enqueue")?.call(&controller, &[&chunk])?;
            }
            controller.get("close")?.call(&controller, &[])
        })];
        ENTRIES
    }
}
