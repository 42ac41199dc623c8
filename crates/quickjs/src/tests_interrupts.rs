//! Tests that scripts can be interrupted inside loops: their own and those of the engine's functions.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::tests::{eval, runtime};
use crate::{Fiber, block_on};

/// Each of these runs far longer than a few ticks, mostly within a single native call.
const LONG: [&str; 24] = [
    "for (;;) {}",
    "try { for (;;) {} } catch { 1 }",
    "/(a*)*b/.test('a'.repeat(40))",
    "new Array(3e7).fill(0)",
    "Array.from({ length: 1e8 })",
    "[].concat(new Array(1e8))",
    "new Array(1e8).reverse()",
    "new Array(1e8).sort()",
    "new Array(1e8).copyWithin(0, 1)",
    "new Array(1e8).splice(1)",
    "new Array(1e8).join()",
    "new Array(1e8).indexOf(1)",
    "new Array(1e8).flat()",
    "[...new Array(1e8)]",
    "new Float64Array(new Array(1e8))",
    "'a'.repeat(5e8)",
    "'ab'.repeat(2e8)",
    "'b'.padStart(5e8)",
    "'a'.repeat(2e7).toUpperCase()",
    "('a'.repeat(1e6) + 'b').split('a'.repeat(1e5) + 'c')",
    "('a'.repeat(1e6) + 'b').replaceAll('a'.repeat(1e5) + 'c', '')",
    "('a'.repeat(1e6) + 'b').includes('a'.repeat(1e5) + 'c')",
    "JSON.stringify(new Array(1e7))",
    "JSON.parse('[' + '0,'.repeat(2e7) + '0]')",
];

/// Tests that count polls or advance the clock of all runtimes must not run concurrently.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn long_calls_can_be_interrupted() {
    let _alone = alone();
    let mut ended = Vec::new();
    for source in LONG {
        let runtime = runtime();
        // A native call without a poll asks the host once before it starts, and not again until it returns.
        let left = Cell::new(4);
        runtime.set_interrupt(Some(Rc::new(move |_| {
            left.set(left.get() - 1);
            left.get() <= 0
        })));
        // Some calls can only return early. The next call then throws the exception.
        let script = Fiber::new(&runtime, move |context| {
            eval(context, &format!("{source}; (() => 0)()"))
        });
        let script = script.unwrap();
        if block_on(script).unwrap().ends_with("interrupted") {
            ended.push(source);
        }
    }
    assert_eq!(ended, LONG);
}

/// A call that returns before the first tick never asks the host, so only a long call shows that ticks work.
#[test]
fn short_calls_are_not_interrupted() {
    let _alone = alone();
    let runtime = runtime();
    let calls = Rc::new(Cell::new(0));
    let count = Rc::clone(&calls);
    runtime.set_interrupt(Some(Rc::new(move |_| {
        count.set(count.get() + 1);
        false
    })));
    let script = Fiber::new(&runtime, |context| {
        eval(context, "let n = 0; while (n < 100000) n++; n")
    });
    assert_eq!(block_on(script.unwrap()).unwrap(), "100000");
    // Ten times the loop count would mean that each poll calls the host.
    assert!(calls.get() < 10_000, "{} calls", calls.get());
}
