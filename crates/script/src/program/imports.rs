//! Loads modules for a user's engine: `import`, `require`, `import.meta.resolve`.

use std::any::Any;
use std::sync::Arc;

use plimsoll_k6::files::Files;
use plimsoll_k6::modules::{BuiltIn, Shape};
use plimsoll_k6::user::{Phase, user};
use plimsoll_quickjs::{
    Bytecode, Call, Context, Exception, Exports, Loader, Module, Persistent, PromiseState,
    Returned, Thrown, Value,
};

use crate::failure::CallFailure;

use super::compile::Compiled;
use super::library::Library;
use super::{Location, first_part};

/// The library of the running user's program.
pub(super) fn library(context: &Context) -> &Library {
    let files: &dyn Any = &*user(context).common.files;
    // Only `Program` and `in_memory` create users of scripts, and both give them a library.
    files.downcast_ref().expect("the files are a library")
}

/// Finds modules in the library that the running user holds.
pub struct UserLoader(pub Arc<dyn Files>);

impl Loader for UserLoader {
    fn resolve<'c>(
        &self,
        context: &'c Context,
        base: &str,
        specifier: &str,
        _: &Value<'c>,
    ) -> Result<String, Thrown> {
        library(context)
            .resolve(base, specifier)
            .map_err(|error| context.throw_plain(error))
    }

    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        _: &Value<'c>,
    ) -> Result<Module<'c>, Thrown> {
        load(context, name)
    }

    fn code(&self) -> Vec<Bytecode> {
        let files: &dyn Any = &*self.0;
        files.downcast_ref().map_or_else(Vec::new, Library::code)
    }
}

/// The module with that full name.
pub(super) fn load<'c>(context: &'c Context, name: &str) -> Result<Module<'c>, Thrown> {
    if let Some(Location::BuiltIn(module)) = Location::of_name(name) {
        return load_built_in(context, module);
    }
    let compiled = library(context)
        .module(name)
        .map_err(|error| context.throw_plain(error))?;
    let owned = name.to_owned();
    match &*compiled {
        Compiled::Module { code, uses_meta } => {
            let module = Module::load(context, code)?;
            if *uses_meta {
                module
                    .meta()?
                    .set("resolve", context.function("resolve", 1, resolve)?)?;
            }
            Ok(module)
        }
        Compiled::CommonJs { names, .. } => {
            // The names that a CommonJS file exports are only known after running it. Later users run it when the
            // module is evaluated.
            let names = match names.get() {
                Some(names) => names.clone(),
                None => run_common_js(context, name)?
                    .keys()?
                    .map(|key| key.text())
                    .collect(),
            };
            let fill = names.clone();
            let names = names
                .into_iter()
                .filter(|name| name != "default")
                .chain(["default".to_owned()]);
            Module::native(context, name, names, move |context, exports| {
                let values = run_common_js(context, &owned)?;
                for name in fill.iter().filter(|name| *name != "default") {
                    exports.set(name, values.get(&**name)?)?;
                }
                let default = values.get("default")?;
                exports.set(
                    "default",
                    if default.is_undefined() {
                        values
                    } else {
                        default
                    },
                )
            })
        }
        Compiled::Json(_) => Module::native(context, name, ["default"], move |context, exports| {
            let value = json_module(context, &owned)?;
            exports.set("default", value)
        }),
    }
}

/// One of k6's own modules. Its exports are created once per user, regardless of how they are imported.
fn load_built_in<'c>(context: &'c Context, module: &'static BuiltIn) -> Result<Module<'c>, Thrown> {
    let names = module.names().chain(["default"]);
    let loaded = Module::native(
        context,
        module.name,
        names,
        move |context: &Context, exports: &Exports<'_>| {
            let values = built_in_exports(context, module)?;
            for name in module.names() {
                exports.set(name, values.get(name)?)?;
            }
            exports.set("default", values)
        },
    )?;
    // As in k6.
    Ok(match module.shape {
        Shape::Names => loaded.lacks_as_null(),
        Shape::DefaultObject => loaded,
    })
}

fn built_in_exports<'c>(
    context: &'c Context,
    module: &'static BuiltIn,
) -> Result<Value<'c>, Thrown> {
    let made = &user(context).modules;
    if let Some(exports) = made.get(module.name) {
        return Ok(exports.restore(context));
    }
    let exports = module.exports(context)?;
    made.insert(module.name.to_owned(), Persistent::new(&exports));
    Ok(exports)
}

/// Runs a CommonJS file, unless this user already has, and returns its exports.
fn run_common_js<'c>(context: &'c Context, name: &str) -> Result<Value<'c>, Thrown> {
    let user = user(context);
    if let Some(module) = user.modules.get(name) {
        return module.restore(context).get("exports");
    }
    let compiled = library(context)
        .module(name)
        .map_err(|error| context.throw_plain(error))?;
    let Compiled::CommonJs { code, names } = &*compiled else {
        return Err(context.throw_plain(format!("{name} is not a CommonJS file")));
    };
    let (module, exports) = (context.object()?, context.object()?);
    module.set("exports", exports.clone())?;
    // Stored before the file runs: files that require each other see the exports so far.
    user.modules
        .insert(name.to_owned(), Persistent::new(&module));
    let outcome = context
        .run(code)
        .and_then(|function| function.call(&exports, &[&module, &exports]));
    if let Err(thrown) = outcome {
        user.modules.remove(name);
        return Err(thrown);
    }
    let exports = module.get("exports")?;
    if names.get().is_none() {
        let keys = exports.keys()?.map(|key| key.text()).collect();
        // Another user may already have set them, with the same keys.
        let _ = names.set(keys);
    }
    Ok(exports)
}

fn json_module<'c>(context: &'c Context, name: &str) -> Result<Value<'c>, Thrown> {
    let compiled = library(context)
        .module(name)
        .map_err(|error| context.throw_plain(error))?;
    match &*compiled {
        Compiled::Json(text) => context.parse_json(text, name),
        _ => Err(context.throw_plain(format!("{name} is not JSON"))),
    }
}

/// Runs the script itself and returns its exports.
///
/// As in k6, an exception of the script is reported only after everything that the script has started is done. A
/// promise that was rejected meanwhile and not handled takes precedence.
pub fn run_entry(context: &Context) -> Result<Value<'_>, CallFailure> {
    let name = &library(context).entry().name();
    let compiled = library(context)
        .module(name)
        .map_err(|error| context.throw_plain(error))?;
    if !matches!(*compiled, Compiled::Module { .. }) {
        return run_common_js(context, name).or_else(|thrown| {
            let exception = context.take_exception(thrown);
            if !exception.is_uncatchable() {
                user(context).event_loop.drain(context)?;
            }
            Err(exception.rethrow().into())
        });
    }
    let module = match Module::loaded(context, name)? {
        // It is in the image that the user starts from.
        Some(module) => module,
        None => load(context, name)?,
    };
    if context.makes_image() {
        module.link()?;
        first_part::run_imports(context, &module, usize::MAX)?;
    }
    let running = module.evaluate()?;
    // Its rejection is reported below.
    running.mark_handled();
    let is_ended = match running.promise_state() {
        Some(PromiseState::Rejected(reason)) => Exception(reason).is_uncatchable(),
        _ => false,
    };
    if !is_ended {
        // The event loop drives top-level await.
        user(context).event_loop.drain(context)?;
    }
    match running.promise_state() {
        Some(PromiseState::Rejected(reason)) => Err(context.throw(reason).into()),
        Some(PromiseState::Pending) => Err(CallFailure::Unfinished),
        _ => Ok(module.namespace()?),
    }
}

/// `require(specifier)`.
pub fn require<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if user(context).phase() != Phase::Init {
        return Err(context.throw_plain(
            "the \"require\" function works in the init code only, outside of functions that users run",
        ));
    }
    let specifier = call.argument(0).to_text()?;
    let name = library(context)
        .resolve(&running_file(context), &specifier)
        .map_err(|error| context.throw_plain(error))?;
    if let Some(Location::BuiltIn(module)) = Location::of_name(&name) {
        return built_in_exports(context, module);
    }
    let compiled = library(context)
        .module(&name)
        .map_err(|error| context.throw_plain(error))?;
    match &*compiled {
        Compiled::CommonJs { .. } => run_common_js(context, &name),
        Compiled::Json(_) => json_module(context, &name),
        Compiled::Module { .. } => require_module(context, &name),
    }
}

/// Requires an ES module. Returns its namespace, which must be complete without waiting.
fn require_module<'c>(context: &'c Context, name: &str) -> Result<Value<'c>, Thrown> {
    let entry = library(context).entry().name();
    let importing = context.import(&entry, name)?;
    context.run_jobs()?;
    match importing.promise_state() {
        Some(PromiseState::Fulfilled(namespace)) => Ok(namespace),
        Some(PromiseState::Rejected(reason)) => {
            importing.mark_handled();
            Err(context.throw(reason))
        }
        _ => Err(context.throw_plain(format!(
            "{name} uses top-level await, so it cannot be required; import it instead"
        ))),
    }
}

/// `import.meta.resolve(specifier)`.
fn resolve<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let specifier = call.argument(0).to_text()?;
    let base = Location::of_name(&running_file(context));
    let base = base.unwrap_or_else(|| library(context).entry().clone());
    match super::location::join(&base, &specifier) {
        Ok(found) => context.string(&found.name()),
        Err(reason) => {
            let reason = reason.unwrap_or_else(|| "it is neither a path nor an address".to_owned());
            Err(context.throw_plain(format!("cannot resolve {:?}: {reason}", &*specifier)))
        }
    }
}

/// `open(path[, "b"])`.
pub fn open<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    if user(context).phase() != Phase::Init {
        return Err(context.throw_plain(
            "open() works in the init code only, outside of functions that users run",
        ));
    }
    let path = call.argument(0);
    let path = if path.is_nullish() {
        String::new()
    } else {
        path.to_text()?.into_string()
    };
    // As in k6, paths are relative to the outermost file whose code is running.
    let base = outermost_file(context);
    let bytes = library(context)
        .open(base.as_deref(), &path)
        .map_err(|error| context.throw_plain(error))?;
    let mode = call.argument(1);
    if mode.is_string() && &*mode.to_text()? == "b" {
        return context.array_buffer(&bytes);
    }
    context.string_lossy(&bytes)
}

/// The file whose code called the running host function.
fn running_file(context: &Context) -> String {
    let files = (0..)
        .map(|level| context.running_file(level))
        .take(MAX_FRAMES);
    let file = files
        .flatten()
        .find(|file| Location::of_name(file).is_some());
    file.unwrap_or_else(|| library(context).entry().name())
}

/// The outermost file whose code is running.
pub fn outermost_file(context: &Context) -> Option<String> {
    let files = (0..)
        .map(|level| context.running_file(level))
        .take(MAX_FRAMES);
    files
        .flatten()
        .filter(|file| Location::of_name(file).is_some())
        .last()
}

/// The number of stack frames to search.
const MAX_FRAMES: usize = 64;
