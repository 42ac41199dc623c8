//! `k6/experimental/fs`: files read in pieces. All users share a file's bytes.

use std::cell::Cell;
use std::path::PathBuf;
use std::sync::Arc;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};

use super::fault::Fault;
use super::{BuiltIn, Shape};
use crate::user::{Phase, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/experimental/fs",
    shape: Shape::Names,
    entries: &[Entry::function(c"open", 1, |context, call| {
        context.settled(open(context, call))
    })],
    made: &["SeekMode"],
    make: Some(|context, exports| {
        let modes = context.object()?;
        for (name, mode) in [("Start", START), ("Current", CURRENT), ("End", END)] {
            modes.define(name, context.number(mode))?;
        }
        exports.define("SeekMode", modes)
    }),
};

const START: i32 = 0;
const CURRENT: i32 = 1;
const END: i32 = 2;

/// An open file and this user's position in it.
pub struct File {
    pub path: PathBuf,
    pub bytes: Arc<[u8]>,
    at: Cell<usize>,
}

impl Class for File {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, file| File {
        path: file.path.clone(),
        bytes: Arc::clone(&file.bytes),
        at: file.at.clone(),
    });

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"read", 1, |context, call| {
                context.settled(read(context, call))
            }),
            Entry::function(c"seek", 2, |context, call| {
                context.settled(seek(context, call))
            }),
            Entry::function(c"stat", 0, |context, call| {
                context.settled(stat(context, call))
            }),
        ];
        ENTRIES
    }
}

fn file<'a, 'c>(
    context: &'c Context,
    this: &'a Value<'c>,
) -> Result<plimsoll_quickjs::Instance<'a, File>, Thrown> {
    this.instance::<File>()
        .ok_or_else(|| context.throw_type("a method of a file was called on something else"))
}

/// `open(path)`
fn open<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    if user.phase() != Phase::Init {
        let message = "open() failed; reason: opening a file is allowed only in the Init context";
        return Err(Fault::new("ForbiddenError", message).throw(context));
    }
    let path = call.argument(0);
    if path.is_nullish() {
        return Err(context.throw_type("open() failed; reason: path cannot be null or undefined"));
    }
    let path = path.to_text()?;
    if path.is_empty() {
        return Err(context.throw_type("open() failed; reason: path cannot be empty"));
    }
    let files = &user.common.files;
    let base = files.base(context);
    let whole = files
        .path(base.as_deref(), &path)
        .map_err(|reason| context.throw_type(format!("open() failed; reason: {reason}")))?;
    let shown = whole.display();
    if whole.is_dir() {
        let message = format!("cannot open \"{shown}\": opening a directory is not supported");
        return Err(Fault::new("InvalidResourceError", message).throw(context));
    }
    if !whole.exists() {
        let message = format!("no such file or directory \"{shown}\"");
        return Err(Fault::new("NotFoundError", message).throw(context));
    }
    let bytes = files
        .open(base.as_deref(), &path)
        .map_err(|reason| Fault::new("InvalidResourceError", reason).throw(context))?;
    let path = context.string(&whole.to_string_lossy())?;
    let file = context.instance(File {
        path: whole,
        bytes,
        at: Cell::new(0),
    })?;
    file.define_fixed("path", path)?;
    Ok(file)
}

/// `stat()`: `{ name, size }`
fn stat<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let file = file(context, &this)?;
    let name = file.path.file_name().unwrap_or_default().to_string_lossy();
    let result = context.object()?;
    result.define("name", context.string(&name)?)?;
    result.define("size", context.integer(file.bytes.len() as u64))?;
    Ok(result)
}

/// `read(into)`: the number of bytes read, or null at the end.
fn read<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let file = file(context, &this)?;
    let into = call.argument(0);
    if into.is_nullish() {
        return Err(
            context.throw_type("read() failed; reason: into argument cannot be null or undefined")
        );
    }
    let is_bytes =
        into.is_object() && &*into.get("constructor")?.get("name")?.to_text()? == "Uint8Array";
    let rest = file.bytes.get(file.at.get()..).unwrap_or_default();
    let written = if is_bytes {
        into.write_bytes(rest)
    } else {
        None
    };
    match written {
        None => {
            Err(context.throw_type("read() failed; reason: into argument must be a Uint8Array"))
        }
        Some(0) if rest.is_empty() => Ok(context.null()),
        Some(count) => {
            file.at.set(file.at.get() + count);
            Ok(context.integer(count as u64))
        }
    }
}

/// `seek(offset, whence)`: the new position in bytes from the start.
fn seek<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let file = file(context, &this)?;
    let number = |index: usize, name: &str| -> Result<f64, Thrown> {
        let value = call.argument(index);
        if value.is_nullish() {
            return Err(context.throw_type(format!(
                "seek() failed; reason: the {name} argument cannot be null or undefined"
            )));
        }
        let wrong = |kind: &str| {
            context.throw_type(format!(
                "seek() failed; reason: the {name} argument must be a {kind}"
            ))
        };
        let number = value.as_number().ok_or_else(|| wrong("number"))?;
        if number.fract() != 0.0 {
            return Err(wrong("whole number"));
        }
        Ok(number)
    };
    let offset = number(0, "offset")? as i64;
    let whence = number(1, "whence")? as i32;
    let size = file.bytes.len() as i64;
    let place = match whence {
        START if offset < 0 => {
            return Err(context.throw_type("offset cannot be negative when using SeekModeStart"));
        }
        START => offset,
        CURRENT => (file.at.get() as i64).saturating_add(offset),
        END if offset > 0 => {
            return Err(context.throw_type("offset cannot be positive when using SeekModeEnd"));
        }
        // As in k6, the end is the last byte, not the position after it.
        END => (size - 1).saturating_add(offset),
        _ => {
            return Err(
                context.throw_type("seek() failed; reason: the whence argument must be a SeekMode")
            );
        }
    };
    if place < 0 {
        return Err(context.throw_type("seeking before start of file"));
    }
    if place > size {
        return Err(context.throw_type("seeking beyond end of file"));
    }
    file.at.set(usize::try_from(place).unwrap_or_default());
    Ok(context.integer(place.unsigned_abs()))
}
