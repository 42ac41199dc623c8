//! Descriptions of services, read by the first user and kept for all others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use grpc::{Method, Schema, SchemaError, Source};

use crate::user::Common;

/// Descriptions by what they were read from.
#[derive(Default)]
pub struct Described(Mutex<HashMap<String, Read>>);

/// What came of reading one.
type Read = Result<(Schema, Vec<Method>), String>;

impl Described {
    /// What `key` was read as; `read` if nobody has.
    pub fn once(&self, key: &str, read: impl FnOnce() -> Read) -> Read {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(key) {
            return known.clone();
        }
        let made = read();
        known.insert(key.to_owned(), made.clone());
        made
    }
}

/// Files that the script may open, which an archive of it holds too.
pub struct Files {
    pub common: Arc<Common>,
    pub base: Option<String>,
    /// Where imports are looked for.
    pub folders: Vec<String>,
}

impl Source for Files {
    fn read(&self, name: &str) -> Option<String> {
        self.folders.iter().find_map(|folder| {
            let path = if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{}/{name}", folder.trim_end_matches('/'))
            };
            let bytes = self.common.library.open(self.base.as_deref(), &path);
            String::from_utf8(bytes.ok()?.to_vec()).ok()
        })
    }
}

/// Compiles the files.
pub fn compile(files: Files, names: &[String]) -> Read {
    let mut schema = Schema::new();
    let told = |SchemaError(text)| text;
    let methods = schema.compile(names, files).map_err(told)?;
    Ok((schema, methods))
}

/// Takes a set of descriptors.
pub fn take_set(bytes: &[u8]) -> Read {
    let mut schema = Schema::new();
    let methods = schema.add_set(bytes).map_err(|SchemaError(text)| text)?;
    Ok((schema, methods))
}
