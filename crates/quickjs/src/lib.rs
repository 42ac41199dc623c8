//! A thin, safe wrapper over quickjs-ng.
//!
//! It adds no cost to the raw interface: a [`Value`] is the engine's value with a context reference, a host function is
//! a plain Rust `fn` called through a trampoline created at compile time, and suspending a script that waits takes a
//! few nanoseconds.
//!
//! | type | meaning |
//! |---|---|
//! | [`Runtime`] | one engine instance with its one context; a virtual user owns one |
//! | [`Context`] | the running engine as host functions see it |
//! | [`Value`] | an owned JavaScript value, tied to a borrow of its context |
//! | [`Persistent`] | a value that Rust stores across calls |
//! | [`Thrown`] | proof that an exception is pending; passed on with `?` |
//! | [`Class`] | a Rust type whose values scripts hold as objects |
//! | [`Image`] | the heap from which many users start |
//! | [`Fiber`] | a script's stack: run as a future, suspended by [`Context::wait`] |
//!
//! A value must only be passed to its own runtime. Debug builds assert this.
#![allow(unsafe_code)]

mod bytes;
mod class;
mod context;
mod engine;
mod exception;
mod exotic;
mod fiber;
mod function;
mod give_way;
mod image;
mod module;
mod name;
mod object;
mod persistent;
mod promise;
mod runtime;
mod shared;
mod slot;
mod text;
mod ticker;
mod value;

pub use class::{Assignment, Class, Instance};
pub use context::Context;
pub use exception::{ErrorKind, Exception, Frame, Thrown};
pub use fiber::{Cancelled, Fiber, block_on, on_new_stack, resident_stacks};
pub use function::{Call, Entry, HostFunction, Returned};
pub use give_way::{
    Progress, collect_in_pieces, copy_in_pieces, drop_later, extend_in_pieces, give_way,
    give_way_in_drop, pieces, reserve_in_pieces, reserve_text_in_pieces,
};
pub use image::{Image, ImageSize, InImage, NoImage, UserSize};
pub use module::{Bytecode, Exports, Loader, Module, SourceText};
pub use name::{Atom, Key, Name, NameRange};
pub use object::Keys;
pub use persistent::Persistent;
pub use promise::{PromiseState, Resolver};
pub use runtime::{MustEnd, Runtime, Settings, StartError, check_threads};
pub use slot::Slot;
pub use text::Text;
pub use value::{Borrowed, Value};

use plimsoll_quickjs_sys as sys;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_interrupts;
#[cfg(test)]
mod tests_polls;
#[cfg(test)]
mod tests_sharing;
#[cfg(all(test, not(feature = "address-sanitizer")))]
mod tests_stack;
