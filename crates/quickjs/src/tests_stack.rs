//! Tests what a waiting script keeps of its stack.

use crate::fiber::{STACK_SIZE, block_on, resident};
use crate::tests::{eval, runtime};
use crate::*;

/// The number of pages of the running script's stack that are in memory.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn resident_pages(context: &Context) -> usize {
    // The guard page is below the stack.
    let start = context.inner().stack_limit.get() + 4096;
    resident(start, start + STACK_SIZE - 8192) / 4096
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn a_long_wait_frees_the_unused_stack() {
    let runtime = runtime();
    let fiber = Fiber::new(&runtime, |context| {
        let deep = "const f = (n) => n ? f(n - 1) + 1 : 0; f(100)";
        assert_eq!(eval(context, deep), "100");
        let after_use = resident_pages(context);
        context.wait(std::future::ready(())).unwrap();
        let after_wait = resident_pages(context);
        context.wait_long(std::future::ready(())).unwrap();
        let after_long_wait = resident_pages(context);
        assert_eq!(eval(context, "f(100) + 1"), "101");
        (after_use, after_wait, after_long_wait)
    })
    .unwrap();
    let (after_use, after_wait, after_long_wait) = block_on(fiber).unwrap();
    assert!(after_use > 10, "{after_use} pages");
    assert_eq!(after_wait, after_use);
    assert!(after_long_wait <= 3, "{after_long_wait} pages");
}
