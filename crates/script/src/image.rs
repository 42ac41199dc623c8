//! Runs the init code once for all users of a worker. The users start from the resulting heap.
//!
//! If the init code does something that differs between users, such as reading `__VU` or the time, only the imports
//! before that run once. Each user runs the rest itself.
//!
//! `PLIMSOLL_IMAGE=off` in the environment turns this off. With `swap`, each user's changes are saved at every wait;
//! `make images` tests this.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::{Arc, OnceLock};

use log::Level;
use plimsoll_engine::RunState;
use plimsoll_k6::names;
use plimsoll_k6::user::{Common, User};
use plimsoll_quickjs::{Context, Image, Persistent, Thrown};
use tokio::sync::Mutex;

use crate::failure::ScriptError;
use crate::globals;
use crate::instance::{self, Instance, Outcome};
use crate::loaded::Program;

/// The value of `PLIMSOLL_IMAGE`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setting {
    Off,
    On,
    Swap,
}

fn setting() -> Setting {
    static SETTING: OnceLock<Setting> = OnceLock::new();
    *SETTING.get_or_init(|| match std::env::var_os("PLIMSOLL_IMAGE") {
        Some(value) if value == "off" => Setting::Off,
        Some(value) if value == "swap" => Setting::Swap,
        _ => Setting::On,
    })
}

/// Whether users start from an image if possible.
pub fn is_on() -> bool {
    setting() != Setting::Off
}

/// The state from which the users of a worker start.
pub struct Origin {
    /// The script's exports; `None` if each user runs the script itself.
    exports: Option<Rc<Persistent>>,
    /// The user that ran the init code, or its first part.
    user: Rc<User>,
    /// Declared last, so that it is dropped after the values above, which belong to it.
    image: Image,
}

impl Origin {
    /// A copy of the program for `user`, whose init code has run already, or its first part.
    ///
    /// # Errors
    /// If the system has no thread or memory left. Otherwise the exception of the rest of the init code, or its request
    /// to end the run.
    pub async fn start(self: Rc<Self>, mut user: User) -> Result<Instance, ScriptError> {
        user.follow(&self.user);
        let user = Rc::new(user);
        let runtime = self.image.start(Rc::clone(&user))?;
        instance::interrupt_when_overdue(&runtime, &user);
        let exports = match &self.exports {
            Some(exports) => {
                let exports = Rc::clone(exports);
                let define = |context: &Context| {
                    globals::define_number(context)
                        .map_err(|thrown| ScriptError::thrown(context, thrown))
                };
                runtime.enter(define)?;
                exports
            }
            None => Rc::new(instance::run_rest(&runtime, &user).await.into_exports()?),
        };
        Ok(Instance::of_image(user, exports, runtime, self))
    }
}

/// What this worker has learned about a program.
struct Known {
    program: std::sync::Weak<Common>,
    /// `None` if each of its users needs its own runtime.
    origin: Option<Weak<Origin>>,
}

thread_local! {
    /// Locked while the init code runs, so that it runs once.
    static KNOWN: Rc<Mutex<Option<Known>>> = Rc::default();
    /// Whether the log already says that each user needs its own runtime.
    static REPORTED: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// The state from which users of `program` start on this worker. `None` if each needs its own runtime.
pub async fn of(program: &Program, run: &Arc<RunState>) -> Option<Rc<Origin>> {
    let known = KNOWN.with(Rc::clone);
    let mut known = known.lock().await;
    if let Some(known) = &*known
        && std::ptr::eq(known.program.as_ptr(), Arc::as_ptr(&program.common))
    {
        match known.origin.as_ref().map(Weak::upgrade) {
            None => return None,
            Some(Some(origin)) => {
                if origin.image.is_written_too_much() {
                    report(program, "users write to too many of its pages");
                    return None;
                }
                return Some(origin);
            }
            // All its users have ended.
            Some(None) => {}
        }
    }
    let made = match make(program, run, None).await {
        Err(Refusal { reason, common }) => {
            let rest = make(program, run, Some(common)).await;
            rest.map(|origin| (origin, Some(reason)))
        }
        Ok(origin) => Ok((origin, None)),
    };
    let origin = match made {
        Ok((origin, reason)) => {
            let size = origin.image.size().image >> 10;
            let mut text =
                format!("users of a worker begin with an image of {size} KiB of the script's heap");
            if let Some(reason) = reason {
                text += &format!(", and each runs the rest of the init code itself: {reason}");
            }
            (program.common.log)(Level::Debug, &text, &[]);
            Some(Rc::new(origin))
        }
        Err(refusal) => {
            report(program, &refusal.reason);
            None
        }
    };
    *known = Some(Known {
        program: Arc::downgrade(&program.common),
        origin: origin.as_ref().map(Rc::downgrade),
    });
    origin
}

/// The size in bytes of the image from which users of `program` started on this worker.
pub fn size(program: &Program) -> u64 {
    let known = KNOWN.with(Rc::clone);
    let Ok(known) = known.try_lock() else {
        return 0;
    };
    let known = known.as_ref();
    let known =
        known.filter(|known| std::ptr::eq(known.program.as_ptr(), Arc::as_ptr(&program.common)));
    let origin = known.and_then(|known| known.origin.as_ref()?.upgrade());
    origin.map_or(0, |origin| origin.image.size().image as u64)
}

/// Logs once for each worker why each user needs its own runtime.
fn report(program: &Program, reason: &str) {
    let is_new =
        REPORTED.with_borrow_mut(|last| last.replace(reason.to_owned()).as_deref() != Some(reason));
    if is_new {
        let text = format!("each virtual user has its own script runtime: {reason}");
        (program.common.log)(Level::Debug, &text, &[]);
    }
}

/// Why there is no image.
struct Refusal {
    reason: String,
    /// How many of the script's imports an image could contain.
    common: usize,
}

impl From<String> for Refusal {
    fn from(reason: String) -> Self {
        Refusal { reason, common: 0 }
    }
}

/// Runs the init code on behalf of all users of this worker; with `part`, no more than that many of the script's imports.
async fn make(
    program: &Program,
    run: &Arc<RunState>,
    part: Option<usize>,
) -> Result<Origin, Refusal> {
    let mut user = User::on_behalf_of_others(Arc::clone(&program.common));
    let run = Arc::clone(run);
    user.interrupted = Some(Arc::new(move || run.aborted().is_some()));
    let user = Rc::new(user);
    let settings = instance::settings(&user, None);
    let runtime =
        Image::begin(settings, Rc::clone(&user)).map_err(|refusal| refusal.to_string())?;
    let ran = match part {
        None => match instance::run_init(&runtime, &user, None).await {
            Outcome::Returned(exports) => Some(Some(Rc::new(exports))),
            _ => None,
        },
        Some(count) => match instance::run_common_part(&runtime, &user, count).await {
            Outcome::Returned(()) => Some(None),
            _ => None,
        },
    };
    runtime.set_interrupt(None);
    let refusal = |reason| Refusal {
        reason,
        common: user.common_imports.get(),
    };
    if let Some(reason) = runtime.enter(Context::obstacle) {
        return Err(refusal(reason));
    }
    let Some(exports) = ran else {
        // A user with its own runtime reports it.
        return Err(refusal("the init code failed".to_owned()));
    };
    // The rest of the init code must find the same state as without an image.
    let has_rest = exports.is_none() || program.has("setupVU");
    runtime.enter(|context| {
        reserve(context, has_rest).map_err(|thrown| context.take_exception(thrown).text())
    })?;
    let image = Image::freeze(runtime).map_err(|no| refusal(no.to_string()))?;
    if setting() == Setting::Swap {
        image.swap_always();
    }
    Ok(Origin {
        exports,
        user: Rc::clone(&user),
        image,
    })
}

/// Reserves properties for the values that differ between users. Otherwise, setting them would change the layout of the
/// global object, and each user would get its own copy.
fn reserve(context: &Context, has_rest: bool) -> Result<(), Thrown> {
    let global = context.global();
    global.define_hot("__VU", context.number(0))?;
    // It must not exist yet when the init code or `setupVU` runs.
    if !has_rest && !global.has(names::ITER)? {
        global.define_hot(names::ITER, context.undefined())?;
    }
    Ok(())
}
