//! Writes k6 scripts from recordings and descriptions of other tools. Text in, text out: files, the
//! network and the run of the script belong to the caller.

pub mod captured;
mod correlate;
mod curl;
mod formats;
mod har;
mod headers;
mod javascript;
mod jmx;
mod journey;
mod openapi;
mod postman;
mod script;
mod settings;
mod template;
mod text;
mod url;

pub use captured::Captured;
pub use correlate::{by_captured, by_recording};
pub use formats::{Format, read};
pub use journey::{Journey, Problem};
pub use script::{Purpose, write};
pub use settings::Settings;
