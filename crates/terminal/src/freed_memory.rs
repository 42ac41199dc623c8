//! Keeps the memory that a burst of connections needed.

use std::os::unix::process::CommandExt;

/// Executes this program again with an allocator setting that keeps freed memory; it is read only at the start.
/// Without it, the memory of a burst of connections goes back to the kernel, and the next burst waits for new memory.
pub fn keep_freed_memory() {
    const SETTING: &str = "MIMALLOC_PURGE_DELAY";
    let Ok(program) = std::env::current_exe() else {
        return;
    };
    if std::env::var_os(SETTING).is_some() {
        return;
    }
    let mut arguments = std::env::args_os();
    let mut again = std::process::Command::new(program);
    if let Some(name) = arguments.next() {
        again.arg0(name);
    }
    // `exec` returns only if it fails. The relay also works without the setting.
    let _ = again.args(arguments).env(SETTING, "-1").exec();
}
