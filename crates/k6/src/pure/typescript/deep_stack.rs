//! Provides enough stack for deeply nested sources.

use std::thread;

/// The upper bound, per byte of a source that only nests, of the stack that a recursive parser and a walk over its tree
/// need. Untouched pages cost nothing.
const STACK_PER_BYTE: usize = 4096;
const MAX_STACK: usize = 4 << 30;

/// Sources up to this length fit on any stack.
const SHORT: usize = 256;

/// Calls `work`, which parses `source`, on a stack that is large enough for it.
///
/// The nesting of a generated script may grow with its length: brackets, else-ifs, sums of thousands of terms. On the
/// caller's stack, it would crash the process without a message.
pub(super) fn on_deep_stack<T: Send>(source: &str, work: impl FnOnce() -> T + Send) -> T {
    if source.len() <= SHORT {
        return work();
    }
    let size = source.len().saturating_mul(STACK_PER_BYTE).min(MAX_STACK);
    let mut work = Some(work);
    let done = thread::scope(|scope| {
        let take = &mut work;
        let run = move || take.take().map(|work| work());
        let spawned = thread::Builder::new()
            .stack_size(size)
            .spawn_scoped(scope, run);
        spawned.ok().and_then(|thread| match thread.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    match (done, work) {
        (Some(done), _) => done,
        // If the system cannot provide such a stack, use the caller's stack.
        (None, Some(work)) => work(),
        // Only running `work` consumes it.
        (None, None) => unreachable!("the work is neither done nor left"),
    }
}

#[cfg(test)]
mod tests {
    use crate::pure::typescript::{is_esm, strip};

    #[test]
    fn deeply_nested_sources_are_parsed() {
        let depth = 20_000;
        let (open, close) = ("(".repeat(depth), ")".repeat(depth));
        let parentheses = format!("const a: number = {open}1{close};");
        assert_eq!(
            strip(&parentheses).map(|text| text.len()),
            Ok(parentheses.len())
        );
        for text in [
            format!(
                "const a: number[] = {}1{};",
                "[".repeat(depth),
                "]".repeat(depth)
            ),
            format!("const a: boolean = {}b;", "!".repeat(depth)),
            format!("const a = {}b;", "c=>".repeat(depth)),
            format!("const a: number = 1{};", "+1".repeat(depth)),
            format!("{}{{}}", "if(a){}else ".repeat(depth)),
            format!("type A = {}1{};", "[".repeat(depth), "]".repeat(depth)),
        ] {
            // Whether or not the parser accepts the source, the process must survive.
            let _ = strip(&text);
            assert!(!is_esm(&text));
        }
    }
}
