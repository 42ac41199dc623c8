//! One image of a heap for many users.
//!
//! A runtime runs the init code, and its heap becomes the image. Each user starts from the unchanged image. Objects that
//! a user creates are in its own memory and stay there. Other users do not see its changes to the image: before another
//! user runs, the engine saves the changed lines and restores those of the other user. The data that every user changes
//! is in one place and is swapped without a comparison ([`hot`]).
//!
//! The users of an image take turns on one thread. Every call into the engine first switches to the user that makes it
//! ([`Inner::take_turn`]). A user that waits is suspended on its own stack, and its values stay valid, because all
//! addresses stay the same.

mod delta;
mod heap;
mod hot;
mod own;
mod pages;
mod space;
#[cfg(test)]
mod tests;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::ptr::{NonNull, null};
use std::rc::Rc;

use crate::class::Copies;
use crate::module::Fills;
use crate::runtime::{Inner, StartError};
use crate::{Bytecode, Context, Runtime, Settings, Value, sys};

use delta::Delta;
pub(super) use heap::Heap;
use hot::{HotLines, HotPart};
use own::OwnMemory;
use pages::Pages;
pub(super) use space::is_in_image;

/// If users write to more pages than this, comparing them takes longer than an image saves.
const MAX_PAGES: usize = 64;

thread_local! {
    /// Whether this thread has an image, or is making one. The engine allows one for each thread.
    static IS_TAKEN: Cell<bool> = const { Cell::new(false) };
}

/// The heap of a runtime whose init code has run. Many users start from it.
pub struct Image(Rc<Frozen>);

/// Why each user needs its own runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoImage(pub String);

impl fmt::Display for NoImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NoImage {}

/// What happens to a class's objects in an image ([`Image`]), which all users see as the same objects.
pub enum InImage<T> {
    /// The users share the Rust value, which never changes. It holds no JavaScript values.
    Shared,
    /// Each user that uses the object gets a copy of the Rust value.
    Copied(fn(&Context, &T) -> T),
    /// If the init code creates such an object, there is no image. The text names the object, as in "a connection".
    Refused(&'static str),
}

/// The memory that an image and its users take, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageSize {
    /// The image itself.
    pub image: usize,
    /// Pages of the image that users have written to.
    pub written_pages: usize,
    /// Cache lines of the part that users exchange as a whole.
    pub hot_lines: usize,
}

/// The memory that one user of an image takes, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct UserSize {
    /// Bytes of objects that the user has created since it started from the image.
    pub made: usize,
    /// Bytes of the image that the user has changed, as of its last turn, including the part that every user changes.
    pub changed: usize,
    /// The number of cache lines in it.
    pub changed_lines: usize,
}

struct Frozen {
    /// The first field, because these values no longer belong to the image once its heap is gone.
    pages: Box<Pages>,
    /// The runtime that ran the init code. It no longer runs anything.
    origin: Runtime,
    heap: Rc<Making>,
    /// The part of the image that every user changes, and its initial content.
    hot: HotPart,
    fresh: HotLines,
    /// The functions that fill modules implemented in Rust which each user evaluates for itself.
    fills: Fills,
    /// The user that is running, or was the last one to run.
    current: Cell<Option<NonNull<Inner>>>,
    /// Whether that user is in the middle of a turn.
    is_busy: Cell<bool>,
    /// Whether to save a user's changes at the end of each turn, even if no other user runs next.
    swaps_always: Cell<bool>,
}

/// A heap that is or may become an image.
pub(super) struct Making {
    pub(super) heap: Box<Heap>,
    /// An action of the init code that would have to be repeated for each user.
    obstacle: RefCell<Option<String>>,
    /// Compiled scripts that users run, by the address of their bytes.
    scripts: RefCell<HashMap<*const u8, (Bytecode, sys::JSValue)>>,
}

/// A user's part of an image.
pub(super) struct Part {
    frozen: Rc<Frozen>,
    /// Its copies of the host's objects in the image.
    pub(super) copies: Copies,
    memory: Box<OwnMemory>,
    hot: RefCell<HotLines>,
    delta: RefCell<Delta>,
}

/// Where the values of a runtime lie.
pub(super) enum Place {
    /// In a separate engine.
    Own,
    /// In the image.
    Origin(Rc<Making>),
    /// In the image and in memory of the user.
    User(Part),
}

impl Drop for Making {
    fn drop(&mut self) {
        IS_TAKEN.set(false);
    }
}

impl Making {
    pub(super) fn start() -> Result<Rc<Self>, NoImage> {
        if IS_TAKEN.get() {
            return Err(NoImage(
                "the thread has the image of another run".to_owned(),
            ));
        }
        let heap = Heap::new();
        let heap = heap.ok_or_else(|| NoImage("there is no memory for an image".to_owned()))?;
        IS_TAKEN.set(true);
        Ok(Rc::new(Making {
            heap,
            obstacle: RefCell::default(),
            scripts: RefCell::default(),
        }))
    }
}

impl Image {
    /// A runtime for the init code. Run it and then call [`Image::freeze`].
    ///
    /// # Errors
    /// If this thread can have no image.
    pub fn begin<H: Any>(settings: Settings, host: Rc<H>) -> Result<Runtime, NoImage> {
        Runtime::for_image(settings, host, Making::start()?)
            .map_err(|error| NoImage(error.to_string()))
    }

    /// Makes the heap of `origin` an image, after its init code has returned.
    ///
    /// # Errors
    /// If the init code did what it would have to do for each user, or if the runtime is not from [`Image::begin`].
    pub fn freeze(origin: Runtime) -> Result<Self, NoImage> {
        let Place::Origin(making) = &origin.inner().place else {
            return Err(NoImage("the runtime was not made for an image".to_owned()));
        };
        let heap = Rc::clone(making);
        let context = origin.context();
        if let Some(obstacle) = context.obstacle() {
            return Err(NoImage(obstacle));
        }
        let out_of_memory = || NoImage("there is no memory for an image".to_owned());
        // SAFETY: the context is live and runs nothing.
        if origin.enter(|context| unsafe { sys::JS_PrepareImage(context.raw()) }) != 0 {
            return Err(NoImage("the init code has left work behind".to_owned()));
        }
        // SAFETY: as above. If it fails, the heap is given up.
        let frozen = origin.enter(|context| unsafe { sys::JS_FreezeImage(context.raw()) });
        origin.inner().give_up_heap();
        if frozen != 0 {
            return Err(out_of_memory());
        }
        let (base, size) = heap.heap.freeze().ok_or_else(out_of_memory)?;
        let (hot_page, hot_size) = heap.heap.hot_part();
        let pages = Pages::protect(base, size, heap.heap.window.number(), hot_page)
            .map_err(|error| NoImage(format!("the image cannot be protected: {error}")))?;
        let hot = HotPart::new(hot_page, hot_size);
        // SAFETY: this thread has no other image.
        unsafe { sys::JS_SetImageEnd((base + size) as *const _) };
        Ok(Image(Rc::new(Frozen {
            fills: origin.inner().pending_modules.for_users(),
            origin,
            heap,
            fresh: hot.lines(),
            hot,
            pages,
            current: Cell::new(None),
            is_busy: Cell::new(false),
            swaps_always: Cell::new(false),
        })))
    }

    /// A new user, whose host functions reach `host`.
    ///
    /// # Errors
    /// If the system refuses the thread that interrupts scripts, or memory.
    pub fn start<H: Any>(&self, host: Rc<H>) -> Result<Runtime, StartError> {
        let part = Part {
            frozen: Rc::clone(&self.0),
            copies: Copies::default(),
            memory: Box::default(),
            hot: RefCell::new(self.0.fresh.clone()),
            delta: RefCell::default(),
        };
        let runtime = Runtime::of_image(&self.0.origin, host, part)?;
        let seed = RandomState::new().build_hasher().finish();
        // SAFETY: the context is live, and the user has run nothing yet.
        let started = runtime.enter(|context| unsafe {
            sys::JS_SeedRandom(context.raw(), seed);
            sys::JS_StartUser(context.raw())
        });
        match started {
            0 => Ok(runtime),
            _ => Err(StartError::Memory),
        }
    }

    /// The runtime that ran the init code. Values that Rust stored there stay valid for all users.
    pub fn origin(&self) -> &Runtime {
        &self.0.origin
    }

    /// Saves a user's changes at the end of each of its turns, even if it also has the next turn. For tests: a single
    /// user then exercises the same code as many users.
    pub fn swap_always(&self) {
        self.0.swaps_always.set(true);
    }

    /// Whether users write to too many pages for the image to pay off. New users should then have their own runtimes.
    pub fn is_written_too_much(&self) -> bool {
        self.0.pages.written() > MAX_PAGES
    }

    pub fn size(&self) -> ImageSize {
        ImageSize {
            image: self.0.pages.size(),
            written_pages: self.0.pages.written(),
            hot_lines: self.0.fresh.lines(),
        }
    }
}

impl Runtime {
    /// The memory of a user of an image; `None` for other runtimes.
    pub fn image_size(&self) -> Option<UserSize> {
        let Place::User(part) = &self.inner().place else {
            return None;
        };
        let delta = part.delta.borrow();
        Some(UserSize {
            made: part.memory.size(&part.frozen.heap.heap.runs),
            changed: delta.size() + part.hot.borrow().size(),
            changed_lines: delta.lines() + part.hot.borrow().lines(),
        })
    }
}

impl Context {
    /// Records that the init code reads or does something that differs between users. Then no image is created, and the
    /// first reason is reported. Has no effect after the init code, or without an image.
    pub fn differs_per_user(&self, why: &str) {
        if let Place::Origin(making) = &self.inner().place
            && !making.heap.is_frozen()
        {
            let mut obstacle = making.obstacle.borrow_mut();
            obstacle.get_or_insert_with(|| why.to_owned());
        }
    }

    /// Why there will be no image if the init code continues from here: the first reason of
    /// [`Context::differs_per_user`], or that the script has asked for something that never repeats.
    pub fn obstacle(&self) -> Option<String> {
        let Place::Origin(making) = &self.inner().place else {
            return None;
        };
        // SAFETY: the runtime is live.
        if unsafe { sys::JS_IsUnrepeatable(self.inner().raw.as_ptr()) } {
            self.differs_per_user("the init code asks for the time or a random number");
        }
        making.obstacle.borrow().clone()
    }

    /// Whether init code that creates an image is running.
    pub fn makes_image(&self) -> bool {
        matches!(&self.inner().place, Place::Origin(making) if !making.heap.is_frozen())
    }
}

impl Part {
    pub(super) fn fills(&self) -> Fills {
        Rc::clone(&self.frozen.fills)
    }
}

impl Inner {
    /// Announces that users of the image that is being made will often change the next `count` blocks.
    pub(super) fn hot_next(&self, count: usize) {
        if let Place::Origin(making) = &self.place
            && !making.heap.is_frozen()
        {
            making.heap.hot_next(count);
        }
    }

    /// The function of a compiled script that is in the image of this user.
    pub(super) fn script_of_image(&self, script: &Bytecode) -> Option<sys::JSValue> {
        let Place::User(part) = &self.place else {
            return None;
        };
        let scripts = part.frozen.heap.scripts.borrow();
        let (_, function) = scripts.get(&script.bytes().as_ptr())?;
        Some(*function)
    }

    /// Keeps the function of a compiled script for the users of the image that is being made.
    pub(super) fn add_script_of_image(&self, script: &Bytecode, function: Value<'_>) {
        if let Place::Origin(making) = &self.place
            && !making.heap.is_frozen()
        {
            let kept = (script.clone(), function.into_raw());
            making
                .scripts
                .borrow_mut()
                .insert(script.bytes().as_ptr(), kept);
        }
    }
}

impl Making {
    /// Releases the functions of scripts.
    ///
    /// # Safety
    /// `context` must be the live context in which they were made.
    pub(super) unsafe fn clear(&self, context: *mut sys::JSContext) {
        for (_, (_, function)) in self.scripts.take() {
            // SAFETY: each reference was the table's own.
            unsafe { sys::JS_FreeValue(context, function) };
        }
    }
}

/// A turn of a user, until it is dropped.
pub(super) struct Turn(Option<Rc<Frozen>>);

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some(frozen) = &self.0 {
            frozen.is_busy.set(false);
            if frozen.swaps_always.get() {
                frozen.put_away(&Delta::default());
                frozen.hot.apply(&frozen.fresh);
                frozen.current.set(None);
                frozen.heap.heap.user.set(null());
            }
        }
    }
}

impl Inner {
    /// Makes this user the one whose changes are in the image. Without effect for other runtimes.
    #[inline]
    pub(super) fn take_turn(&self) {
        if let Place::User(part) = &self.place
            && part.frozen.current.get() != Some(NonNull::from(self))
        {
            part.frozen.change(self, part);
        }
    }

    /// Like [`Inner::take_turn`], and no other user can have a turn until the result is dropped.
    #[inline]
    pub(super) fn begin_turn(&self) -> Turn {
        self.take_turn();
        match &self.place {
            // A turn within a turn ends with the outer one.
            Place::User(part) if !part.frozen.is_busy.replace(true) => {
                Turn(Some(Rc::clone(&part.frozen)))
            }
            _ => Turn(None),
        }
    }

    /// Frees the user's memory, and undoes its changes in the image.
    ///
    /// # Safety
    /// Nothing may use the user's values afterwards.
    pub(super) unsafe fn end_part(&self, part: &Part) {
        let frozen = &part.frozen;
        // SAFETY: the runtime is live. Finalizers free no values, which are given back below.
        unsafe {
            sys::JS_FinalizeHostObjects(self.raw.as_ptr(), false);
            part.copies.clear(self.raw.as_ptr());
        }
        let mut delta = part.delta.borrow_mut();
        delta.save(&frozen.pages);
        delta.undo(&frozen.pages, &Delta::default());
        *delta = Delta::default();
        frozen.current.set(None);
        frozen.heap.heap.user.set(null());
        // SAFETY: per the contract above.
        unsafe { part.memory.clear(&frozen.heap.heap.runs) };
    }
}

impl Frozen {
    #[cold]
    #[inline(never)]
    fn change(&self, user: &Inner, part: &Part) {
        assert!(
            !self.is_busy.get(),
            "two users of an image run at the same time"
        );
        let next = part.delta.borrow_mut();
        self.put_away(&next);
        self.hot.apply(&part.hot.borrow());
        next.apply(&self.pages);
        self.current.set(Some(NonNull::from(user)));
        self.heap.heap.user.set(&*part.memory);
        user.be_found_by_engine();
        user.registry.free_dropped();
    }

    /// Removes the last user's changes from the image, except in lines that `next` is going to write.
    fn put_away(&self, next: &Delta) {
        let Some(before) = self.current.get() else {
            return;
        };
        // SAFETY: a user clears the field before it ends.
        let waiting = unsafe { before.as_ref() };
        if let Place::User(before) = &waiting.place {
            self.hot.save(&mut before.hot.borrow_mut());
            let mut before = before.delta.borrow_mut();
            before.save(&self.pages);
            before.undo(&self.pages, next);
        }
        waiting.registry.keep_dropped();
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        // The pages are still writable then. The hot part is that of the last user.
        self.hot.apply(&self.fresh);
        self.origin.inner().end_image();
        // SAFETY: all users have ended, because each holds this object.
        unsafe { sys::JS_SetImageEnd(null()) };
    }
}
