//! `plimsoll/data`: feeders. They give each row of a table to one iteration of one user on one machine.

use std::cell::Cell;
use std::sync::Arc;

use plimsoll_quickjs::{
    Call, Class, Context, Entry, InImage, Instance, Returned, Slot, Thrown, Value,
};

use super::{BuiltIn, Shape, link_constructor};
use crate::feeders::Position;
use crate::user::{Phase, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "plimsoll/data",
    shape: Shape::Names,
    entries: &[],
    made: &["Feeder"],
    make: Some(make),
};

fn make(context: &Context, exports: &Value<'_>) -> Result<(), Thrown> {
    let feeder = context.constructor("Feeder", 2, construct)?;
    link_constructor::<Feeder>(context, &feeder)?;
    exports.define("Feeder", feeder)
}

/// A table, and the position that all users share.
struct Feeder {
    name: String,
    rows: [Slot; 1],
    length: u64,
    position: Arc<Position>,
    at_end: AtEnd,
    /// The index of the row that this user keeps, once it has one.
    own: Cell<Option<u64>>,
}

/// What to do when all rows are used.
#[derive(Clone, Copy)]
enum AtEnd {
    Throw,
    Null,
    Repeat,
}

/// `new Feeder(name, rows, { atEnd }?)`
fn construct<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if call.this().is_undefined() {
        return Err(context.throw_type("Feeder is a constructor: write `new Feeder(…)`"));
    }
    let user = user(context);
    if user.phase() != Phase::Init {
        return Err(context.throw_plain("new Feeder must be called in the init context"));
    }
    let name = call.argument(0).to_text()?.into_string();
    let rows = call.argument(1);
    if !rows.is_array() {
        return Err(
            context.throw_type("the second argument of Feeder must be an array or a SharedArray")
        );
    }
    let length = rows.length()?;
    if length == 0 {
        return Err(context.throw_plain(format!("the feeder {name} has no rows")));
    }
    let options = call.argument(2);
    let at_end = match options.is_object() {
        true => options.get("atEnd")?,
        false => context.undefined(),
    };
    let at_end = match at_end.is_nullish() {
        true => AtEnd::Throw,
        false => match &*at_end.to_text()? {
            "throw" => AtEnd::Throw,
            "null" => AtEnd::Null,
            "repeat" => AtEnd::Repeat,
            other => {
                return Err(context.throw_plain(format!(
                    "unknown atEnd {other:?} of a feeder: use throw, null or repeat"
                )));
            }
        },
    };
    let slot = Slot::empty();
    slot.set(rows.clone());
    context.instance(Feeder {
        position: user.common.feeders.position(&name),
        name,
        rows: [slot],
        length,
        at_end,
        own: Cell::new(None),
    })
}

impl Class for Feeder {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|context, feeder| {
        let rows = Slot::empty();
        if let Some(value) = feeder.rows[0].get(context) {
            rows.set(value);
        }
        Feeder {
            name: feeder.name.clone(),
            rows: [rows],
            length: feeder.length,
            position: Arc::clone(&feeder.position),
            at_end: feeder.at_end,
            own: feeder.own.clone(),
        }
    });

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"next", 0, |context, call| {
                let this = call.this();
                let feeder = feeder(context, &this)?;
                let place = feeder.take(context)?;
                feeder.row(context, place)
            }),
            Entry::function(c"own", 0, |context, call| {
                let this = call.this();
                let feeder = feeder(context, &this)?;
                if feeder.own.get().is_none() {
                    feeder.own.set(feeder.take(context)?);
                }
                feeder.row(context, feeder.own.get())
            }),
            Entry::getter(c"length", |context, call| {
                let this = call.this();
                Ok(match this.instance::<Feeder>() {
                    Some(feeder) => context.integer(feeder.length),
                    None => context.undefined(),
                })
            }),
        ];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.rows.iter().for_each(see);
    }
}

fn feeder<'a, 'c>(
    context: &'c Context,
    value: &'a Value<'c>,
) -> Result<Instance<'a, Feeder>, Thrown> {
    value
        .instance::<Feeder>()
        .ok_or_else(|| context.throw_type("a method of a feeder was called on something else"))
}

impl Feeder {
    /// The index of the next row. `None` if all rows are used and the script gets `null` then.
    fn take(&self, context: &Context) -> Result<Option<u64>, Thrown> {
        let user = user(context);
        user.working(context, "using a feeder")?;
        let share = user.run.as_ref().map(|run| run.rows.clone());
        let place = share.unwrap_or_default().place(self.position.take());
        match (place, self.at_end) {
            (Some(place), _) if place < self.length => Ok(Some(place)),
            (Some(place), AtEnd::Repeat) => Ok(Some(place % self.length)),
            (_, AtEnd::Null) => Ok(None),
            _ => Err(context.throw_plain(format!(
                "all {} rows of the feeder {} are used; give it more, or set atEnd to null or repeat",
                self.length, self.name
            ))),
        }
    }

    /// The row at an index; `null` if the index is `None`.
    fn row<'c>(&self, context: &'c Context, place: Option<u64>) -> Returned<'c> {
        let Some(place) = place else {
            return Ok(context.null());
        };
        let [rows] = &self.rows;
        match rows.get(context) {
            Some(rows) => rows.at(u32::try_from(place).unwrap_or(u32::MAX)),
            None => Ok(context.undefined()),
        }
    }
}
