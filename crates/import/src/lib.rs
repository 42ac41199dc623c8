//! Creates k6 scripts: starter scripts, and scripts from recordings and descriptions of other tools. A translated
//! script is run once with this program, in the same way as its user will. Everything else only transforms text.

pub mod captured;
mod child;
mod correlate;
mod create;
mod curl;
mod formats;
mod har;
mod headers;
mod javascript;
mod jmx;
mod journey;
pub mod new_file;
mod not_created;
mod openapi;
mod postman;
mod script;
mod settings;
pub mod starter;
mod template;
mod text;
mod translate;
mod url;

pub use captured::Captured;
pub use correlate::{by_captured, by_recording};
pub use create::{Caller, NewScript, create};
pub use formats::{Format, read};
pub use journey::{Journey, Problem};
pub use not_created::NotCreated;
pub use script::{Purpose, write};
pub use settings::Settings;
pub use translate::{Created, Translation, translate};
