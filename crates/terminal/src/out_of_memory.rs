//! Prints an explanation if the process exits because an allocation failed.
//!
//! Rust ends the process with SIGABRT if memory cannot be allocated, which looks like a crash. The allocator reports
//! each failure immediately, without any cost for successful allocations. The signal handler then explains the failure.
#![allow(unsafe_code)]

use std::ffi::{c_int, c_void};
use std::io::{Error, Result};
use std::sync::atomic::{AtomicBool, Ordering};

// Links the allocator, which contains the hook below.
use mimalloc as _;
use signal_hook::consts::SIGABRT;

/// Whether an allocation has failed. Usually the code that requested the memory reports the failure.
static ALLOCATION_FAILED: AtomicBool = AtomicBool::new(false);

const MESSAGE: &str = "error: out of memory: the system refused to give this process more memory, so it had to end and \
                       lost its results. Raise the memory limit (ulimit -v, or that of the container), or run with \
                       fewer users or --threads 1\n";

unsafe extern "C" {
    /// mimalloc's error hook. `ENOMEM` means a failed allocation.
    fn mi_register_error(
        hook: Option<unsafe extern "C" fn(c_int, *mut c_void)>,
        argument: *mut c_void,
    );
}

/// Explains failed allocations from now on. The process then exits with `status`.
///
/// # Errors
/// If the system refuses the signal handler.
pub fn explain(status: u8) -> Result<()> {
    note_panics();
    // SAFETY: the hook is a stateless function that may be called on any thread at any time.
    unsafe { mi_register_error(Some(note_failure), std::ptr::null_mut()) };
    // SAFETY: the handler only reads a flag and a number, and calls write(2) and _exit(2), which are async-signal-safe.
    unsafe {
        signal_hook::low_level::register(SIGABRT, move || {
            if ALLOCATION_FAILED.load(Ordering::Relaxed) {
                write_stderr(MESSAGE.as_bytes());
                signal_hook::low_level::exit(status.into());
            }
        })
    }
    .map(drop)
}

/// Detects panics about memory that the standard library requests directly from the system, such as the signal stack of
/// a new thread. They end the process with SIGABRT.
fn note_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let payload = panic.payload();
        let text = payload.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| payload.downcast_ref::<&str>().copied());
        // The text of ENOMEM in an io::Error.
        if text.is_some_and(|text| text.contains("os error 12")) {
            ALLOCATION_FAILED.store(true, Ordering::Relaxed);
        }
        default(panic);
    }));
}

unsafe extern "C" fn note_failure(error: c_int, _: *mut c_void) {
    if Error::from_raw_os_error(error).kind() == std::io::ErrorKind::OutOfMemory {
        ALLOCATION_FAILED.store(true, Ordering::Relaxed);
    }
}

#[cfg(target_os = "linux")]
fn write_stderr(bytes: &[u8]) {
    // If stderr is closed, nobody can read the message.
    let _ = rustix::io::write(rustix::stdio::stderr(), bytes);
}

#[cfg(not(target_os = "linux"))]
fn write_stderr(bytes: &[u8]) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(bytes);
}
