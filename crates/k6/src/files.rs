//! The files of a program, as host functions see them.

use std::any::Any;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use plimsoll_quickjs::Context;

/// The files that a script may open. The code that loads scripts implements this trait.
pub trait Files: Any + Send + Sync {
    /// The module that relative paths are relative to: the outermost file whose code is running.
    fn base(&self, context: &Context) -> Option<String>;

    /// The path that `path` refers to in module `base`.
    ///
    /// # Errors
    /// Why `path` cannot refer to a file.
    fn path(&self, base: Option<&str>, path: &str) -> Result<PathBuf, String>;

    /// Whether a file or folder exists at that path.
    fn exists(&self, path: &Path) -> bool;

    /// The bytes of the file that `path` refers to in module `base`.
    ///
    /// # Errors
    /// Why the file cannot be read.
    fn open(&self, base: Option<&str>, path: &str) -> Result<Arc<[u8]>, String>;
}
