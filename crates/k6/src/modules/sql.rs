//! `k6/x/sql`: SQL databases. As in k6's extension, calls block the script.
//!
//! A database is opened when it is first used, and stays open between iterations.

use std::rc::Rc;
use std::time::Duration;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Instance, Returned, Thrown, Value};
use plimsoll_samples::{Contains, Kind};
use plimsoll_sql::{Changes, ConnectOptions, Database, Driver, Rows, SqlValue};

use super::grpc::{Tls, network};
use super::scripted::{Metric, register};
use super::{BuiltIn, Shape};
use crate::user::{User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/x/sql",
    shape: Shape::Names,
    entries: &[
        Entry::function(c"open", 2, open),
        // The functions of old versions. They take the database as their first argument.
        Entry::function(c"query", 2, |context, call| {
            let database = call.argument(0);
            run(context, call, &database, Form::ROWS.after(1))
        }),
        Entry::function(c"exec", 2, |context, call| {
            let database = call.argument(0);
            run(context, call, &database, Form::CHANGES.after(1))
        }),
    ],
    made: &[],
    make: Some(|context, _| register(context, METRICS)),
};

/// The drivers: modules whose default export identifies a type of database.
pub const MYSQL: BuiltIn = BuiltIn {
    name: "k6/x/sql/driver/mysql",
    shape: Shape::Names,
    entries: &[Entry::string(c"driver", c"mysql")],
    made: &[],
    make: None,
};
pub const POSTGRES: BuiltIn = BuiltIn {
    name: "k6/x/sql/driver/postgres",
    shape: Shape::Names,
    entries: &[Entry::string(c"driver", c"postgres")],
    made: &[],
    make: None,
};
pub const SQLITE: BuiltIn = BuiltIn {
    name: "k6/x/sql/driver/sqlite3",
    shape: Shape::Names,
    entries: &[Entry::string(c"driver", c"sqlite3")],
    made: &[],
    make: None,
};

/// k6's extension has no metrics.
const METRICS: &[Metric] = &[
    (DURATION, Kind::Trend, Contains::Time),
    (FAILED, Kind::Rate, Contains::Default),
];
const DURATION: &str = "sql_query_duration";
const FAILED: &str = "sql_query_failed";

/// Why users do not share the init code.
const USES_DATABASE: &str = "the init code uses a database";

/// The form of a call.
#[derive(Clone, Copy)]
struct Form {
    has_rows: bool,
    has_timeout: bool,
    /// The arguments before the query.
    before: usize,
}

impl Form {
    const ROWS: Form = Form {
        has_rows: true,
        has_timeout: false,
        before: 0,
    };
    const CHANGES: Form = Form {
        has_rows: false,
        has_timeout: false,
        before: 0,
    };

    const fn after(self, before: usize) -> Form {
        Form { before, ..self }
    }

    const fn timed(self) -> Form {
        Form {
            has_timeout: true,
            before: 1,
            ..self
        }
    }
}

/// `open(driver, address)`
fn open<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let given = call.argument(0);
    let name = match given.is_object() {
        true => given.get("driver")?.to_text()?,
        false => given.to_text()?,
    };
    let driver = Driver::from_name(&name).ok_or_else(|| {
        context.throw_plain(format!(
            "there is no driver {}; import one of k6/x/sql/driver/mysql, k6/x/sql/driver/postgres and k6/x/sql/driver/sqlite3",
            &*name
        ))
    })?;
    let address = call.argument(1).to_text()?;
    let database = Database::new(driver, &address).map_err(|error| context.throw_plain(error))?;
    context.instance(Connection(Rc::new(database)))
}

/// A database as scripts see it.
struct Connection(Rc<Database>);

impl Class for Connection {
    // The init code of an image uses no database.
    const IN_IMAGE: InImage<Self> =
        InImage::Copied(|_, connection| Connection(Rc::new(connection.0.unopened())));

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"query", 1, |context, call| {
                let this = call.this();
                run(context, call, &this, Form::ROWS)
            }),
            Entry::function(c"exec", 1, |context, call| {
                let this = call.this();
                run(context, call, &this, Form::CHANGES)
            }),
            Entry::function(c"queryWithTimeout", 2, |context, call| {
                let this = call.this();
                run(context, call, &this, Form::ROWS.timed())
            }),
            Entry::function(c"execWithTimeout", 2, |context, call| {
                let this = call.this();
                run(context, call, &this, Form::CHANGES.timed())
            }),
            Entry::function(c"close", 0, |context, call| {
                let this = call.this();
                context.differs_per_user(USES_DATABASE);
                database(context, &this)?.0.close();
                Ok(context.undefined())
            }),
        ];
        ENTRIES
    }
}

fn database<'a, 'c>(
    context: &'c Context,
    value: &'a Value<'c>,
) -> Result<Instance<'a, Connection>, Thrown> {
    value
        .instance::<Connection>()
        .ok_or_else(|| context.throw_type("not a database: open one with sql.open"))
}

enum Outcome {
    Rows(Rows),
    Changes(Changes),
}

/// Sends a query with the arguments that follow it, and waits for its result.
fn run<'c>(context: &'c Context, call: &Call<'c>, target: &Value<'c>, form: Form) -> Returned<'c> {
    let database = Rc::clone(&database(context, target)?.0);
    if context.makes_image() {
        // Each user runs this part of the init code, so it must not run for them as well.
        context.differs_per_user(USES_DATABASE);
        return Err(context.throw_plain(USES_DATABASE));
    }
    let limit = match form.has_timeout {
        true => Some(super::timeout(context, &call.argument(0))?),
        false => None,
    };
    let text = call.argument(form.before).to_text()?.into_string();
    let values = call.arguments().skip(form.before + 1);
    let values: Vec<SqlValue> = values
        .map(|value| parameter(context, &value))
        .collect::<Result<_, Thrown>>()?;
    let user = user(context);
    let options = connect_options(user, &database).map_err(|error| context.throw_plain(error))?;
    let started = plimsoll_clock::now();
    let outcome = context.wait(async {
        let work = async {
            match form.has_rows {
                true => database
                    .query(&options, &text, values)
                    .await
                    .map(Outcome::Rows),
                false => database
                    .execute(&options, &text, values)
                    .await
                    .map(Outcome::Changes),
            }
        };
        match limit {
            None => work.await,
            Some(limit) => match tokio::time::timeout(limit, work).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!(
                    "no result within {}",
                    plimsoll_units::duration::format(limit)
                )),
            },
        }
    });
    let outcome = outcome.map_err(|cancelled| context.cancelled(cancelled))?;
    record(user, plimsoll_clock::now().since(started), outcome.is_err());
    match outcome {
        Ok(Outcome::Rows(rows)) => objects(context, &rows),
        Ok(Outcome::Changes(changes)) => context.instance(Summary(changes)),
        Err(error) => Err(context.throw_plain(error)),
    }
}

/// The network of the run. Init code may use databases, too, with the default settings.
fn connect_options(user: &User, database: &Database) -> Result<ConnectOptions, String> {
    let unverified = Tls {
        accepts_any: true,
        ..Tls::default()
    };
    let tls = database.accepts_any_certificate().then_some(&unverified);
    let network = network(user, tls)?;
    let counter = match user.work() {
        Some(work) => work.client.traffic_counter(),
        None => Rc::default(),
    };
    Ok(ConnectOptions {
        local: network.local_ip(u64::from(user.id.0)),
        network,
        counter,
    })
}

fn record(user: &User, took: Duration, has_failed: bool) {
    let (Some(work), Some(base)) = (user.work(), user.base_tags()) else {
        return;
    };
    let now = plimsoll_clock::now();
    let milliseconds = took.as_nanos() as f64 / 1e6;
    for (name, value) in [(DURATION, milliseconds), (FAILED, f64::from(has_failed))] {
        if let Some(metric) = user.common.registry.find(name) {
            // This cannot fail, because the value is a number.
            let _ = work.recorder.add(metric, value, &base, &[], now);
        }
    }
}

/// The value for a placeholder.
fn parameter(context: &Context, value: &Value<'_>) -> Result<SqlValue, Thrown> {
    if value.is_nullish() {
        return Ok(SqlValue::Null);
    }
    if let Some(truth) = value.as_bool() {
        return Ok(SqlValue::Bool(truth));
    }
    if let Some(number) = value.as_number() {
        let is_whole = number.fract() == 0.0 && number.abs() < 9_007_199_254_740_992.0;
        return Ok(match is_whole {
            true => SqlValue::Integer(number as i64),
            false => SqlValue::Float(number),
        });
    }
    if let Some(bytes) = value.to_bytes() {
        return Ok(SqlValue::Bytes(bytes));
    }
    if value.is_string() || value.is_big_int() {
        return Ok(SqlValue::Text(value.to_text()?.into_string()));
    }
    if value.is_date() {
        return Ok(match value.to_number()? {
            time if time.is_nan() => SqlValue::Null,
            time => SqlValue::Time(time),
        });
    }
    Err(context
        .throw_type("a value of a query must be text, a number, a boolean, a date, bytes or null"))
}

fn objects<'c>(context: &'c Context, rows: &Rows) -> Returned<'c> {
    let mut read_octets = None;
    let objects = rows.rows.iter().map(|row| -> Returned<'c> {
        let object = context.object()?;
        for (name, value) in rows.columns.iter().zip(row) {
            let value = match value {
                SqlValue::Null => context.null(),
                SqlValue::Bool(truth) => context.bool(*truth),
                SqlValue::Integer(number) => context.number(*number as f64),
                SqlValue::Float(number) => context.number(*number),
                SqlValue::Text(text) => context.string(text)?,
                SqlValue::Bytes(bytes) => context.array_buffer(bytes)?,
                SqlValue::Time(milliseconds) => context.date(*milliseconds)?,
                SqlValue::Octets(bytes) => {
                    let reader = match &read_octets {
                        Some(reader) => Value::clone(reader),
                        None => read_octets
                            .insert(context.function("toString", 0, octets_as_text)?)
                            .clone(),
                    };
                    octets(context, bytes, &reader)?
                }
            };
            object.define(name.as_str(), value)?;
        }
        Ok(object)
    });
    let objects: Result<Vec<_>, Thrown> = objects.collect();
    context.array(objects?)
}

/// An array of numbers, because scripts for k6's driver call `String.fromCharCode(...value)`. It converts to the text
/// as a string and in JSON.
fn octets<'c>(context: &'c Context, bytes: &[u8], reader: &Value<'c>) -> Returned<'c> {
    let numbers: Vec<Value<'c>> = bytes.iter().map(|byte| context.number(*byte)).collect();
    let array = context.array(numbers)?;
    array.define_hidden("toString", reader.clone())?;
    array.define_hidden("toJSON", reader.clone())?;
    Ok(array)
}

fn octets_as_text<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let this = call.this();
    let length = this.length()?.min(u64::from(u32::MAX)) as u32;
    let bytes: Result<Vec<u8>, Thrown> = (0..length)
        .map(|at| Ok(this.at(at)?.to_number()? as u8))
        .collect();
    context.string_lossy(&bytes?)
}

/// The result of `exec`.
struct Summary(Changes);

impl Class for Summary {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::function(c"rowsAffected", 0, |context, call| {
                let this = call.this();
                Ok(match this.instance::<Summary>() {
                    Some(summary) => context.integer(summary.0.rows),
                    None => context.undefined(),
                })
            }),
            Entry::function(c"lastInsertId", 0, |context, call| {
                let this = call.this();
                match this.instance::<Summary>() {
                    Some(summary) => match summary.0.last_id {
                        Some(id) => Ok(context.number(id as f64)),
                        None => Err(context.throw_plain(
                            "LastInsertId is not supported by this driver; use RETURNING in the query",
                        )),
                    },
                    None => Ok(context.undefined()),
                }
            }),
        ];
        ENTRIES
    }
}
