//! Runs a script's init code without files or network, under tight limits. Only fuzz targets use this.

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use plimsoll_engine::{Stop, UserId};
use plimsoll_k6::user::{Common, User};
use plimsoll_samples::Registry;

use crate::failure::ScriptError;
use crate::instance::Instance;
use crate::program::{ImportMap, Library, Location, Packed, Sources};
use crate::users::within;

/// The limits of one script.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Maximum number of bytes that the engine may allocate.
    pub memory: usize,
    /// The maximum time that the script may run and wait.
    pub time: Duration,
}

thread_local! {
    static EVENT_LOOP: RefCell<Option<tokio::runtime::Runtime>> = const { RefCell::new(None) };
}

/// Compiles `source` as `/script.js` and runs its init code as virtual user 1 would. It finds no files other than
/// `files`.
///
/// # Errors
/// The script's exception, or the limit it exceeded.
pub fn run(source: &[u8], files: Packed, limits: Limits) -> Result<(), ScriptError> {
    let entry = Location::File(PathBuf::from("/script.js"));
    let sources = Sources::Archive(files);
    let library = Library::new(entry, PathBuf::from("/"), sources, ImportMap::default());
    library
        .add_entry(source, false)
        .map_err(ScriptError::Unreadable)?;
    let common = Arc::new(Common {
        files: Arc::new(library),
        registry: Arc::new(Registry::new()),
        shared_arrays: Default::default(),
        feeders: Default::default(),
        described: Default::default(),
        browser: Default::default(),
        log: Arc::new(|_, _, _| {}),
        secrets: Arc::default(),
        env: Default::default(),
        freezes_env: false,
        keeps_metric_context: false,
        run: OnceLock::new(),
        option_changes: OnceLock::new(),
        setup_data: Default::default(),
    });
    let user = User::new(UserId(1), common, None);
    let stop = Stop::new();
    stop.set_deadline(plimsoll_clock::now() + limits.time);
    block_on(async {
        let started = Instance::start_limited(user, Some(&stop), Some(limits.memory));
        match within(limits.time, started).await {
            Some(ended) => ended.map(drop),
            None => Err(ScriptError::Exception(
                "the script is still waiting".to_owned(),
            )),
        }
    })
}

/// Like [`crate::once::block_on`], with one event loop for all calls on a thread.
fn block_on<T>(work: impl Future<Output = Result<T, ScriptError>>) -> Result<T, ScriptError> {
    let failed = |error: std::io::Error| ScriptError::Exception(error.to_string());
    EVENT_LOOP.with_borrow_mut(|kept| {
        let event_loop = match kept.take() {
            Some(event_loop) => event_loop,
            None => tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .map_err(failed)?,
        };
        let ended = tokio::task::LocalSet::new()
            .block_on(&event_loop, plimsoll_engine::timer::run_with_timers(work));
        *kept = Some(event_loop);
        ended.map_err(failed)?
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        memory: 4 << 20,
        time: Duration::from_millis(300),
    };

    fn failure(source: &str) -> String {
        failure_within(LIMITS, source)
    }

    fn failure_within(limits: Limits, source: &str) -> String {
        match run(source.as_bytes(), Packed::default(), limits) {
            Ok(()) => "none".to_owned(),
            Err(error) => format!("{error:?}"),
        }
    }

    #[test]
    fn a_script_and_its_timers_run() {
        let source = "import encoding from 'k6/encoding';
            setTimeout(() => { throw new Error(encoding.b64encode('x')); }, 1);";
        assert!(failure(source).contains("eA=="), "{}", failure(source));
        assert_eq!(failure("export default function () {}"), "none");
    }

    #[test]
    fn limits_stop_a_script_that_loops_allocates_or_waits() {
        let endless = failure("for (;;);");
        assert!(
            endless.contains("interrupted") || endless.contains("still waiting"),
            "{endless}"
        );
        // A busy machine takes longer than usual to reach this point.
        let time = Duration::from_secs(60);
        let large = "const a = []; for (;;) a.push('x'.repeat(1e5));";
        let large = failure_within(Limits { time, ..LIMITS }, large);
        assert!(large.contains("memory"), "{large}");
        let waiting = failure("setInterval(() => {}, 5)");
        assert!(
            waiting.contains("still waiting") || waiting.contains("interrupted"),
            "{waiting}"
        );
    }

    /// The parser needs more stack than a script has.
    #[test]
    fn a_deeply_nested_module_is_an_error_from_imports_and_from_scripts() {
        for (file, source) in [
            ("/other.js", "import './other.js'"),
            ("/other.js", "require('./other.js')"),
            ("/other.ts", "require('./other.ts')"),
        ] {
            for depth in [50, 100, 200, 400, 20_000] {
                let nested = format!("const a = {}1;", "(".repeat(depth));
                let packed = Packed {
                    files: [(PathBuf::from(file), Arc::from(nested.as_bytes()))].into(),
                    ..Packed::default()
                };
                let error = run(source.as_bytes(), packed, LIMITS).unwrap_err();
                let error = format!("{error:?}");
                assert!(error.contains(file), "{source} {depth}: {error}");
            }
        }
    }

    #[test]
    fn nothing_is_read_from_disk() {
        assert!(failure("open('/etc/hostname')").contains("/etc/hostname"));
    }
}
