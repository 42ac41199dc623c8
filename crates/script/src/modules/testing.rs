//! Runs scripts against the modules alone, and compares what they log with what k6 was seen to log.
//!
//! `tests/observed/NAME.js` is a k6 script; `NAME.txt` is what `k6 run --quiet --log-format raw` printed for it.

use std::cell::RefCell;
use std::rc::Rc;

use super::{BuiltIn, Shape};
use crate::names;
use crate::quickjs::{Call, Context, Loader, Module, Returned, Runtime, Settings, Thrown, Value};

struct BuiltIns;

impl Loader for BuiltIns {
    fn resolve<'c>(
        &self,
        _: &'c Context,
        _: &str,
        specifier: &str,
        _: &Value<'c>,
    ) -> Result<String, Thrown> {
        Ok(specifier.to_owned())
    }

    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        _: &Value<'c>,
    ) -> Result<Module<'c>, Thrown> {
        let module = super::find(name)
            .ok_or_else(|| context.throw_plain(format!("there is no module {name}")))?;
        let exported: Vec<&str> = module.names().chain(["default"]).collect();
        Module::native(context, name, exported, |context, exports| {
            let all = module.exports(context)?;
            for name in module.names() {
                exports.set(name, all.get(name)?)?;
            }
            exports.set("default", all)
        })
    }
}

/// What the script logged.
#[derive(Default)]
struct Log(RefCell<String>);

fn log<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let mut log = context.host::<Log>().0.borrow_mut();
    log.push_str(&call.argument(0).to_text()?);
    log.push('\n');
    Ok(context.undefined())
}

/// What `source`, a module with a default export, logs.
pub fn logged(source: &str, globals: impl FnOnce(&Context) -> Result<(), Thrown>) -> String {
    let log_host = Rc::new(Log::default());
    let settings = Settings {
        names: names::TABLE,
        memory_limit: None,
        loader: Rc::new(BuiltIns),
    };
    let runtime = Runtime::new(settings, Rc::clone(&log_host)).unwrap();
    runtime.enter(|context| {
        if let Err(thrown) = run(context, source, globals) {
            let exception = context.take_exception(thrown);
            panic!("{}\n{:?}", exception.text(), exception.frames());
        }
    });
    drop(runtime);
    Rc::into_inner(log_host).unwrap().0.into_inner()
}

fn run(
    context: &Context,
    source: &str,
    globals: impl FnOnce(&Context) -> Result<(), Thrown>,
) -> Result<(), Thrown> {
    let console = context.object()?;
    console.define("log", context.function("log", 1, log)?)?;
    context.global().define("console", console)?;
    globals(context)?;
    let (module, _) = Module::compile(context, source, "observed.js")?;
    module.evaluate()?;
    context.run_jobs()?;
    module.namespace()?.invoke("default", &[])?;
    context.run_jobs()?;
    match context.take_unhandled_rejection() {
        Some(exception) => Err(exception.rethrow()),
        None => Ok(()),
    }
}

/// Compares line by line.
pub fn assert_logged(found: &str, expected: &str) {
    let pairs = found.lines().zip(expected.lines()).enumerate();
    let wrong: Vec<String> = pairs
        .filter(|(_, (found, expected))| found != expected)
        .map(|(i, (found, expected))| {
            format!("line {}\n  found    {found}\n  expected {expected}", i + 1)
        })
        .collect();
    assert!(
        wrong.is_empty(),
        "{} lines differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    assert_eq!(found.lines().count(), expected.lines().count());
}
