//! Room for sources that nest deeply.

use std::thread;

/// A parser that descends, and what walks its tree, need less of the stack than this for each
/// byte of a source that does nothing but nest. Pages that are not touched cost nothing.
const STACK_PER_BYTE: usize = 4096;
const MOST_STACK: usize = 4 << 30;

/// A source this short fits any stack.
const SHORT: usize = 256;

/// Calls `work`, which reads `source`, on a stack that it cannot outgrow.
///
/// A generated script may nest as deep as it is long: brackets, else-ifs, sums of thousands. On
/// the caller's stack that would end the process without a word.
pub(super) fn on_deep_stack<T: Send>(source: &str, work: impl FnOnce() -> T + Send) -> T {
    if source.len() <= SHORT {
        return work();
    }
    let size = source.len().saturating_mul(STACK_PER_BYTE).min(MOST_STACK);
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
        // Where the system gives no such stack, the caller's has to do.
        (None, Some(work)) => work(),
        // `work` is only gone once it has run, and then it is done.
        (None, None) => unreachable!("the work is neither done nor left"),
    }
}

#[cfg(test)]
mod tests {
    use crate::pure::typescript::{is_esm, strip};

    #[test]
    fn sources_that_only_nest_are_read() {
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
            // Refused or not, the process lives.
            let _ = strip(&text);
            assert!(!is_esm(&text));
        }
    }
}
