//! `k6/experimental/csv`: the records of a file, either all of them in a shared array, or one after another.
//!
//! Reading always starts at the file's first byte, even if the script has already read from the file.

use std::cell::RefCell;
use std::sync::Arc;

use serde_json::Value as Json;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Returned, Thrown, Value};

use super::data;
use super::fs::File;
use super::{BuiltIn, Shape, link_constructor};
use crate::pure::csv::{CsvError, Reader};
use crate::shared_arrays::Elements;
use crate::user::{Phase, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/experimental/csv",
    shape: Shape::Names,
    entries: &[Entry::function(c"parse", 2, |context, call| {
        context.settled(parse(context, call))
    })],
    made: &["Parser"],
    make: Some(|context, exports| {
        let parser = context.constructor("Parser", 2, new_parser)?;
        link_constructor::<Parser>(context, &parser)?;
        exports.define("Parser", parser)
    }),
};

/// The options of a parser.
#[derive(Debug, Clone)]
struct Options {
    delimiter: char,
    skip_first_line: bool,
    /// Records before this one are skipped. The first record has number 0.
    from_line: usize,
    /// Records after this one are skipped; 0 means no limit.
    to_line: usize,
    as_objects: bool,
}

fn options(context: &Context, value: &Value<'_>) -> Result<Options, Thrown> {
    let mut options = Options {
        delimiter: ',',
        skip_first_line: false,
        from_line: 0,
        to_line: 0,
        as_objects: false,
    };
    if !value.is_object() {
        return Ok(options);
    }
    let misread = |reason: &str| {
        let message = format!("failed to interpret the provided Parser options; reason: {reason}");
        context.throw_plain(message)
    };
    if value.has("delimiter")? {
        let delimiter = value.get("delimiter")?.to_text()?;
        options.delimiter = match delimiter.as_bytes() {
            [delimiter] => char::from(*delimiter),
            _ => return Err(misread("delimiter must be a single character")),
        };
    }
    let line = |name: &str| -> Result<i64, Thrown> {
        let line = value.get(name)?;
        if line.is_nullish() {
            Ok(0)
        } else {
            line.to_integer()
        }
    };
    let (from, to) = (line("fromLine")?, line("toLine")?);
    if to > 0 && from > to {
        return Err(misread("fromLine must be less than or equal to toLine"));
    }
    let unmade = |reason: &str| {
        context.throw_plain(format!("failed to create a new parser; reason: {reason}"))
    };
    for (name, line) in [("fromLine", from), ("toLine", to)] {
        if line < 0 {
            let reason =
                format!("the '{name}' option must be greater than or equal to 0; got {line}");
            return Err(unmade(&reason));
        }
    }
    options.from_line = usize::try_from(from).unwrap_or_default();
    options.to_line = usize::try_from(to).unwrap_or_default();
    options.skip_first_line = value.get("skipFirstLine")?.is_truthy();
    options.as_objects = value.get("asObjects")?.is_truthy();
    if options.as_objects && options.skip_first_line {
        return Err(unmade(
            "the 'header' option cannot be enabled when 'skipFirstLine' is true",
        ));
    }
    if options.as_objects && options.from_line > 0 {
        return Err(unmade(
            "the 'header' option cannot be enabled when 'fromLine' is set to a value greater than 0",
        ));
    }
    Ok(options)
}

/// A file being read record by record.
#[derive(Clone)]
struct Records {
    bytes: Arc<[u8]>,
    reader: Reader,
    options: Options,
    /// The number of the next record, from 0.
    line: usize,
    header: Option<Vec<String>>,
}

impl Records {
    /// Skips the lines before the first record, and reads the field names if there is a header.
    fn start(bytes: Arc<[u8]>, options: Options) -> Result<Records, String> {
        let reader = Reader::new(options.delimiter)
            .map_err(|error| format!("failed to read record; reason: {error}"))?;
        let mut records = Records {
            bytes,
            reader,
            options,
            line: 0,
            header: None,
        };
        let failed = |doing: &str, reason: Option<CsvError>| {
            let reason = reason.map_or("EOF".to_owned(), |error| error.to_string());
            format!("failed to create a new parser; reason: failed to {doing}; reason: {reason}")
        };
        let from = records.options.from_line;
        let (skipped, doing) = if from > 0 {
            (from, format!("skip lines until line {from}"))
        } else if records.options.skip_first_line {
            (1, "skip the first line".to_owned())
        } else if records.options.as_objects {
            (1, "read the first line".to_owned())
        } else {
            (0, String::new())
        };
        for _ in 0..skipped {
            let record = match records.record() {
                Ok(Some(record)) => record,
                Ok(None) => return Err(failed(&doing, None)),
                Err(error) => return Err(failed(&doing, Some(error))),
            };
            if records.options.as_objects {
                records.header = Some(record);
            }
        }
        Ok(records)
    }

    fn record(&mut self) -> Result<Option<Vec<String>>, CsvError> {
        self.line += 1;
        self.reader.next(&self.bytes)
    }

    /// The next record as JSON: an array of fields, or an object keyed by the header's names.
    fn next(&mut self) -> Result<Option<Json>, String> {
        if self.options.to_line > 0 && self.line > self.options.to_line {
            return Ok(None);
        }
        let record = self
            .record()
            .map_err(|error| format!("failed to read record; reason: {error}"))?;
        Ok(record.map(|fields| match &self.header {
            None => Json::from(fields),
            Some(names) => {
                let members = names
                    .iter()
                    .cloned()
                    .zip(fields.into_iter().map(Json::from));
                Json::Object(members.collect())
            }
        }))
    }
}

fn records<'c>(context: &'c Context, call: &Call<'c>) -> Result<Records, Thrown> {
    let file = call.argument(0);
    let file = file.instance::<File>().ok_or_else(|| {
        context.throw_plain("the first argument must be a file opened by k6/experimental/fs")
    })?;
    if call.count() > 1 && call.argument(1).is_nullish() {
        return Err(context.throw_plain("the options must not be null or undefined"));
    }
    let options = options(context, &call.argument(1))?;
    Records::start(Arc::clone(&file.bytes), options).map_err(|error| context.throw_plain(error))
}

/// `parse(file, options?)`: all records as a `SharedArray`.
fn parse<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let mut records = records(context, call)?;
    let file = call.argument(0);
    let path = file
        .instance::<File>()
        .map(|file| file.path.display().to_string());
    // A script cannot give a shared array this name.
    let name = format!("\0csv {} {:?}", path.unwrap_or_default(), records.options);
    let shared = &user(context).common.shared_arrays;
    if let Some(elements) = shared.get(&name) {
        return data::view(context, elements);
    }
    let mut elements = Elements::default();
    while let Some(record) = records.next().map_err(|error| context.throw_plain(error))? {
        elements.push(Some(&record.to_string()));
    }
    data::view(context, shared.add(name, elements))
}

/// `new Parser(file, options?)`
struct Parser(RefCell<Records>);

impl Class for Parser {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|_, parser| Parser(parser.0.clone()));

    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"next", 0, |context, call| {
            context.settled(next(context, call))
        })];
        ENTRIES
    }
}

fn new_parser<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if user(context).phase() != Phase::Init {
        return Err(
            context.throw_plain("csv Parser constructor must be called in the init context")
        );
    }
    context.instance(Parser(RefCell::new(records(context, call)?)))
}

/// `next()`: `{ done, value }`; at the end, the value is an empty array.
fn next<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let parser = this
        .instance::<Parser>()
        .ok_or_else(|| context.throw_type("next must be called on a csv Parser"))?;
    let record = parser
        .0
        .borrow_mut()
        .next()
        .map_err(|error| context.throw_plain(error))?;
    let result = context.object()?;
    result.define("done", context.bool(record.is_none()))?;
    let json = record.map_or("[]".to_owned(), |record| record.to_string());
    result.define("value", context.parse_json(&json, "csv")?)?;
    Ok(result)
}
