//! Property names used on hot paths, each made into the engine's own form once per runtime.
//!
//! Elsewhere a plain `"text"` key is as good.

use crate::quickjs::Name;

macro_rules! names {
    ($($name:ident = $text:literal),* $(,)?) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u16)]
        enum Place { $($name),* }
        $(pub const $name: Name = Name(Place::$name as u16);)*
        /// All of them, as [`crate::quickjs::Settings::names`] takes them.
        pub const TABLE: &[&str] = &[$($text),*];
    };
}

names! {
    NAME = "name",
    VALUE = "value",
    ITER = "__ITER",
}
