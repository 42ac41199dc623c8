//! `k6/experimental/streams`: readable streams of the Streams Standard, written in JavaScript.
//!
//! The source is compiled once per process, and run by the users that import the module.

use std::sync::OnceLock;

use plimsoll_quickjs::{Bytecode, Context, Thrown, Value};

use super::{BuiltIn, Shape};

const NAMES: &[&str] = &[
    "CountQueuingStrategy",
    "ReadableStream",
    "ReadableStreamDefaultReader",
];

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/experimental/streams",
    shape: Shape::Names,
    entries: &[],
    made: NAMES,
    make: Some(make),
};

fn make<'c>(context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
    static CODE: OnceLock<Bytecode> = OnceLock::new();
    let code = match CODE.get() {
        Some(code) => code,
        None => {
            let source = include_str!("streams.js");
            let compiled = Bytecode::of_script(context, source, MODULE.name)?;
            CODE.get_or_init(|| compiled)
        }
    };
    let classes = context.run(code)?.call(&context.undefined(), &[])?;
    for name in NAMES {
        exports.define(*name, classes.get(*name)?)?;
    }
    Ok(())
}
