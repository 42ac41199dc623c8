//! The parts of the script API that need no JavaScript engine.
//!
//! Each file contains one concept with its tests; `modules` binds them to the engine.

pub(crate) mod aes_modes;
pub mod base64;
pub mod csv;
pub(crate) mod digests;
pub(crate) mod elliptic;
pub mod event_stream;
pub(crate) mod form;
pub mod gjson;
pub(crate) mod go_number;
pub(crate) mod gorand;
pub mod html;
pub mod json_syntax;
pub mod link;
pub mod mqtt;
pub(crate) mod pbkdf2;
pub(crate) mod rsa_key;
pub mod text_decoding;
pub mod typescript;
pub mod uuid;
