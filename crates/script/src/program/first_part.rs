//! The first part of the init code, which users have in common even if the rest differs between them.

use plimsoll_k6::user::user;
use plimsoll_quickjs::{Context, Module, Thrown};

use super::compile::Compiled;
use super::imports::{library, load};

/// Evaluates the modules that the script itself, which must be linked, imports: `most` of them, or until one does what
/// differs between users.
///
/// Evaluating the script itself afterwards skips them, so the order is the same.
///
/// # Errors
/// If a module throws, or does what differs between users. [`User::common_imports`] is then the number of modules before
/// it.
///
/// [`User::common_imports`]: plimsoll_k6::user::User::common_imports
pub fn run_imports(context: &Context, script: &Module<'_>, most: usize) -> Result<(), Thrown> {
    let user = user(context);
    let imports = script.imports_one_by_one();
    for (index, module) in imports.iter().take(most).enumerate() {
        let outcome = module.evaluate()?;
        if let Some(plimsoll_quickjs::PromiseState::Rejected(reason)) = outcome.promise_state() {
            outcome.mark_handled();
            return Err(context.throw(reason));
        }
        if let Some(obstacle) = context.obstacle() {
            return Err(context.throw_plain(obstacle));
        }
        // Jobs and timers run after the script itself.
        if index == user.common_imports.get() && !context.has_jobs() && user.event_loop.is_idle() {
            user.common_imports.set(index + 1);
        }
    }
    Ok(())
}

/// Loads the script itself with all that it imports, and evaluates the first `count` modules only.
///
/// # Errors
/// As for [`run_imports`].
pub fn run_common_part(context: &Context, count: usize) -> Result<(), Thrown> {
    let library = library(context);
    let name = library.entry().name();
    let compiled = library
        .module(&name)
        .map_err(|error| context.throw_plain(error))?;
    if let Compiled::Module { .. } = *compiled {
        let script = load(context, &name)?;
        script.link()?;
        run_imports(context, &script, count)?;
    }
    for code in library.common_js() {
        context.prepare(&code)?;
    }
    Ok(())
}
