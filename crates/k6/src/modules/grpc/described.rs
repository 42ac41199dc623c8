//! Reads descriptions of services.

use std::cell::OnceCell;
use std::rc::Rc;
use std::sync::Arc;

use plimsoll_grpc::{Schema, SchemaError, Source};

use crate::service_descriptions::Description;
use crate::user::Common;

/// Files that the script may open. Archives contain them, too.
pub struct Files {
    pub common: Arc<Common>,
    pub base: Option<String>,
    /// Folders to search for imports.
    pub folders: Vec<String>,
    /// Why an existing file could not be read. Only the first such reason is kept.
    pub unreadable: Rc<OnceCell<String>>,
}

impl Source for Files {
    fn read(&self, name: &str) -> Option<String> {
        self.folders.iter().find_map(|folder| {
            let path = if folder.is_empty() {
                name.to_owned()
            } else {
                format!("{}/{name}", folder.trim_end_matches('/'))
            };
            let files = &self.common.files;
            let base = self.base.as_deref();
            let exists = files
                .path(base, &path)
                .is_ok_and(|path| files.exists(&path));
            let read = files.open(base, &path).and_then(|bytes| {
                let text = String::from_utf8(bytes.to_vec());
                text.map_err(|_| format!("{path} is not UTF-8 text"))
            });
            match read {
                Ok(text) => return Some(text),
                Err(reason) if exists => drop(self.unreadable.set(reason)),
                Err(_) => {}
            }
            None
        })
    }
}

pub fn compile(files: Files, names: &[String]) -> Description {
    let mut schema = Schema::new();
    let unreadable = Rc::clone(&files.unreadable);
    let methods = schema
        .compile(names, files)
        // If a file could not be read, the compiler reports only that it is missing.
        .map_err(|SchemaError(text)| unreadable.get().cloned().unwrap_or(text))?;
    Ok((schema, methods))
}

/// Reads a descriptor set.
pub fn take_set(bytes: &[u8]) -> Description {
    let mut schema = Schema::new();
    let methods = schema.add_set(bytes).map_err(|SchemaError(text)| text)?;
    Ok((schema, methods))
}
