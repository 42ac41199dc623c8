//! Tests that the engine's native functions poll often, however large their arguments are.
//!
//! In these tests, each poll makes the next one ask the host, too. So they count polls and need no clock.

use std::cell::Cell;
use std::rc::Rc;

use crate::give_way::in_host_function;
use crate::tests::{eval, runtime};
use crate::tests_interrupts::alone;
use crate::{Context, Fiber, Runtime, block_on, drop_later, give_way, sys};

/// More polls than parsing and a few calls cause.
const POLLS: u32 = 60;

/// Preparation, and one native call that uses the prepared values.
const NATIVE: [(&str, &str); 72] = [
    (PROXY, "p.x"),
    (PROXY, "'x' in p"),
    (PROXY, "p.x = 1"),
    (PROXY, "delete p.x"),
    (PROXY, "Object.getOwnPropertyDescriptor(p, 'x')"),
    (PROXY, "Object.defineProperty(p, 'x', { value: 1 })"),
    (PROXY, "Object.keys(p)"),
    (PROXY, "Object.getPrototypeOf(p)"),
    (PROXY, "Object.setPrototypeOf(p, null)"),
    (PROXY, "Object.isExtensible(p)"),
    (PROXY, "Object.preventExtensions(p)"),
    (PROXY, "Object.create(p).x"),
    (CALLABLE, "p()"),
    (CALLABLE, "new p()"),
    (CALLABLE, "p.bind(null)()"),
    (CALLABLE, "({}) instanceof p"),
    (BIG, "big * big"),
    (BIG, "big / small"),
    (BIG, "big % small"),
    (BIG, "big.toString()"),
    (BIG, "big ** 3n"),
    ("var digits = '9'.repeat(20000)", "BigInt(digits)"),
    ("var t = new Float64Array(5e4).map(Math.random)", "t.sort()"),
    (
        "var t = new Uint8Array(1e5).map((_, i) => i * 7)",
        "t.sort()",
    ),
    ("var t = new Uint16Array(1e7)", "t.fill(1)"),
    ("var t = new Uint8Array(1e7)", "t.fill(1)"),
    ("var t = new Uint8Array(1e7)", "t.includes(1)"),
    ("var t = new Uint16Array(1e7)", "t.lastIndexOf(1)"),
    ("var t = new Uint8Array(2e7)", "t.reverse()"),
    ("var t = new Uint8Array(1e7)", "t.copyWithin(1, 0)"),
    ("var t = new Uint8Array(1e7)", "t.slice()"),
    ("var t = new Uint8Array(1e7)", "t.with(0, 1)"),
    ("var t = new Uint8Array(1e7)", "t.buffer.slice(1)"),
    (RESIZABLE, "t.resize(1e7)"),
    (TEXT, "JSON.parse(quoted)"),
    (TEXT, "JSON.stringify(text)"),
    (TEXT, "JSON.parse(' '.repeat(1e7) + 1)"),
    (TEXT, "text.concat(wide).charAt(1)"),
    (TEXT, "text === other"),
    (TEXT, "text < other"),
    (TEXT, "text.indexOf('b')"),
    (TEXT, "text.startsWith(other)"),
    (TEXT, "other.lastIndexOf('b' + text)"),
    (TEXT, "' '.repeat(1e7).trim()"),
    (TEXT, "text.split('b')"),
    (TEXT, "text.padEnd(2e7, 'xy')"),
    (TEXT, "text.toUpperCase()"),
    (TEXT, "wide.isWellFormed()"),
    (TEXT, "wide.toWellFormed()"),
    (TEXT, "wide.normalize()"),
    (TEXT, "wide.localeCompare(wide)"),
    (
        "var text = 'a' + '\\u0301\\u0316'.repeat(5e3)",
        "text.normalize('NFD')",
    ),
    (TEXT, "escape(wide)"),
    (TEXT, "unescape(text)"),
    (TEXT, "encodeURIComponent(wide)"),
    (TEXT, "decodeURIComponent(text)"),
    (TEXT, "parseInt(' '.repeat(1e7) + 1)"),
    (TEXT, "new RegExp(text)"),
    (TEXT, "RegExp.escape(text)"),
    (TEXT, "/^(a+)\\1$/.test(text.slice(0, 3e3) + 'b')"),
    (TEXT, "'a'.replace('a', '$$'.repeat(1e5))"),
    (TEXT, "eval(quoted)"),
    (TEXT, "eval('`' + text + '`')"),
    (TEXT, "eval('/*' + text + '*/')"),
    (TEXT, "eval(' '.repeat(1e7))"),
    (TEXT, "eval('var ' + text)"),
    (OBJECT, "({ ...object })"),
    (OBJECT, "Object.assign({}, object)"),
    (OBJECT, "Object.freeze(object)"),
    (OBJECT, "Object.getOwnPropertyDescriptors(object)"),
    (OBJECT, "Object.isFrozen(Object.freeze(object))"),
    (
        "var list = new Array(1e4).fill([])",
        "new Set(list.values())",
    ),
];

/// Without polls: exponential work that still ends.
const PROXY: &str = "var p = {}; for (let i = 0; i < 18; i++) p = new Proxy(p, p)";
const CALLABLE: &str = "var p = function () {}; for (let i = 0; i < 18; i++) p = new Proxy(p, p)";
const BIG: &str = "var big = (1n << 100000n) - 1n, small = (1n << 50000n) - 1n";
const RESIZABLE: &str = "var t = new ArrayBuffer(1, { maxByteLength: 1e7 })";
const TEXT: &str = "var text = 'a'.repeat(1e7), other = 'a'.repeat(1e7 - 1) + 'a'.slice(), \
                    wide = '\\u1234'.repeat(1e7), quoted = '\"' + text + '\"'";
const OBJECT: &str = "var object = {}; for (let i = 0; i < 1e4; i++) object['k' + i] = i";

#[test]
fn native_work_is_ended_by_a_poll() {
    let _alone = alone();
    let mut held = Vec::new();
    for (setup, work) in NATIVE {
        let runtime = runtime();
        let polls = Rc::new(Cell::new(0));
        let armed = Rc::new(Cell::new(false));
        let (count, is_armed) = (Rc::clone(&polls), Rc::clone(&armed));
        runtime.set_interrupt(Some(Rc::new(move |_| {
            if !is_armed.get() {
                return false;
            }
            // SAFETY: adds one to a number that any thread may change.
            unsafe { sys::JS_TickInterrupts() };
            count.set(count.get() + 1);
            count.get() > POLLS
        })));
        let script = Fiber::new(&runtime, move |context| {
            eval(context, setup);
            armed.set(true);
            // SAFETY: as above.
            unsafe { sys::JS_TickInterrupts() };
            eval(context, &format!("{work}; (() => 0)()"))
        });
        let ended = block_on(script.unwrap()).unwrap();
        if !ended.ends_with("interrupted") {
            held.push((work, polls.get(), ended.get(..40).unwrap_or("").to_owned()));
        }
    }
    assert_eq!(held, []);
}

/// Work on ten million characters, or on as many bytes of text, in blocks of 128 KiB. Each call reads them several
/// times.
#[test]
fn digits_and_new_strings_are_read_in_blocks() {
    let _alone = alone();
    type Work = fn(&Context);
    const WORK: [(&str, Work, u32); 4] = [
        (
            "digits",
            |context| drop(eval(context, "Number(digits)")),
            220,
        ),
        ("zeros", |context| drop(eval(context, "Number(zeros)")), 220),
        (
            "a long exponent",
            |context| drop(eval(context, "Number('1e' + digits)")),
            220,
        ),
        (
            "a new string",
            |context| {
                for character in ["a", "é", "…", "😀"] {
                    let text = character.repeat(10_000_000 / character.len());
                    let value = context.string(&text).unwrap();
                    assert!(*value.to_text().unwrap() == *text);
                }
            },
            4 * 150,
        ),
    ];
    for (name, work, least) in WORK {
        let runtime = runtime();
        let polls = Rc::new(Cell::new(0));
        let count = Rc::clone(&polls);
        runtime.set_interrupt(Some(Rc::new(move |_| {
            // SAFETY: adds one to a number that any thread may change.
            unsafe { sys::JS_TickInterrupts() };
            count.set(count.get() + 1);
            false
        })));
        let counted = Rc::clone(&polls);
        let script = Fiber::new(&runtime, move |context| {
            eval(
                context,
                "var digits = '1'.repeat(1e7), zeros = '0'.repeat(1e7)",
            );
            counted.set(0);
            // SAFETY: as above.
            unsafe { sys::JS_TickInterrupts() };
            work(context);
        });
        block_on(script.unwrap()).unwrap();
        assert!(polls.get() > least, "{name}: {} polls", polls.get());
    }
}

fn ask_at_every_pause(runtime: &Runtime) {
    runtime.inner().tick_with_pauses.set(true);
    // SAFETY: adds one to a number that any thread may change.
    unsafe { sys::JS_TickInterrupts() };
}

/// Operations that free, mark or move many values and cannot be interrupted.
const FREEING: [(&str, &str); 15] = [
    ("var a = []", "for (let i = 0; i < 1e6; i++) a.push(i)"),
    ("", "new Uint8Array(2.5e8).length"),
    (
        "var a = null; for (let i = 0; i < 3e4; i++) a = { next: a }",
        "a = null",
    ),
    (
        "var a = []; for (let i = 0; i < 3e4; i++) a.push({})",
        "a = null",
    ),
    (
        "var a = []; for (let i = 0; i < 3e4; i++) a.push({})",
        "a.length = 0",
    ),
    (
        "var a = new Map(); for (let i = 0; i < 3e4; i++) a.set(i, i)",
        "a = null",
    ),
    (
        "var a = new Map(); for (let i = 0; i < 3e4; i++) a.set(i, i)",
        "a.clear()",
    ),
    (
        "var a = {}; for (let i = 0; i < 3e4; i++) a['k' + i] = i",
        "a = null",
    ),
    (
        "var a = {}; for (let i = 0; i < 3e4; i++) a['k' + i] = i",
        "Object.keys(a)",
    ),
    ("var a = new Array(3e4).fill(0)", "a.reverse()"),
    ("var a = new Array(3e4).fill(0)", "a.toReversed()"),
    ("var a = new Array(1e6).fill(0)", "a.shift()"),
    (
        "var a = {}; for (let i = 0; i < 3e4; i++) a = Object.create(a)",
        "a.x",
    ),
    (
        "var a = {}; for (let i = 0; i < 3e4; i++) a = Object.create(a)",
        "'x' in a",
    ),
    ("var a = 'a'.repeat(1e7)", "({ [a]: 1 })"),
];

#[test]
fn work_that_must_be_finished_pauses() {
    let _alone = alone();
    let mut held = Vec::new();
    for (setup, work) in FREEING {
        let runtime = runtime();
        ask_at_every_pause(&runtime);
        let script = Fiber::new(&runtime, move |context| {
            eval(context, setup);
            let polls = &context.inner().pause_polls;
            let before = polls.get();
            eval(context, &format!("{work}; 0"));
            polls.get() - before
        });
        let polls = block_on(script.unwrap()).unwrap();
        if polls < 20 {
            held.push((work, polls));
        }
    }
    assert_eq!(held, []);
}

#[test]
fn a_runtime_is_freed_with_pauses() {
    let _alone = alone();
    let runtime = runtime();
    ask_at_every_pause(&runtime);
    runtime.enter(|context| {
        let objects = "var l = []; for (let i = 0; i < 3e4; i++) l.push({}), l[i].a = l[i]; 0";
        assert_eq!(eval(context, objects), "0");
    });
    let other = runtime.clone();
    let allowed = &other.inner().pauses_allowed;
    let before = allowed.get();
    block_on(runtime.free().unwrap()).unwrap();
    let pauses = allowed.get() - before;
    assert!(pauses > 100, "{pauses}");
}

/// An interrupt does not wait until the script's objects are freed. The next script frees them.
#[test]
fn an_interrupted_script_leaves_its_objects_behind() {
    let _alone = alone();
    let runtime = runtime();
    ask_at_every_pause(&runtime);
    let calls = Cell::new(0);
    let polls_at_end = Rc::new(Cell::new(0));
    let (watched, noted) = (runtime.clone(), Rc::clone(&polls_at_end));
    runtime.set_interrupt(Some(Rc::new(move |_| {
        // SAFETY: adds one to a number that any thread may change.
        unsafe { sys::JS_TickInterrupts() };
        calls.set(calls.get() + 1);
        if calls.get() == 50_000 {
            noted.set(watched.inner().pause_polls.get());
        }
        calls.get() >= 50_000
    })));
    let script = Fiber::new(&runtime, |context| {
        eval(
            context,
            "(() => { let list = null; for (;;) list = { list } })()",
        )
    });
    let ended = block_on(script.unwrap()).unwrap();
    assert!(ended.ends_with("interrupted"), "{ended}");
    let polls = runtime.inner().pause_polls.get() - polls_at_end.get();
    assert!(polls < 10, "{polls}");
    assert!(runtime.has_left_over());

    runtime.set_interrupt(None);
    let before = runtime.inner().pauses_allowed.get();
    block_on(Fiber::new(&runtime, |_| ()).unwrap()).unwrap();
    let pauses = runtime.inner().pauses_allowed.get() - before;
    assert!(pauses > 50, "{pauses}");
    assert!(!runtime.has_left_over());
}

/// A value that takes long to drop and records that it was dropped.
#[derive(Default)]
struct Large(Option<Rc<Cell<bool>>>);

impl Drop for Large {
    fn drop(&mut self) {
        if !drop_later(self)
            && let Some(is_dropped) = &self.0
        {
            assert!(!std::thread::panicking());
            is_dropped.set(true);
        }
    }
}

#[test]
fn an_interrupted_host_function_leaves_large_values_behind() {
    let _alone = alone();
    let runtime = runtime();
    let is_dropped = Rc::new(Cell::new(false));
    let large = Large(Some(Rc::clone(&is_dropped)));
    runtime.set_interrupt(Some(Rc::new(|_| true)));
    let script = Fiber::new(&runtime, |_| {
        in_host_function(move || {
            let _large = large;
            give_way(usize::MAX);
        })
        .is_err()
    });
    assert_eq!(block_on(script.unwrap()), Some(true));
    assert!(!is_dropped.get() && runtime.has_left_over());

    runtime.set_interrupt(None);
    block_on(Fiber::new(&runtime, |_| ()).unwrap()).unwrap();
    assert!(is_dropped.get() && !runtime.has_left_over());
}

#[test]
fn collections_pause() {
    let _alone = alone();
    let runtime = runtime();
    ask_at_every_pause(&runtime);
    runtime.enter(|context| {
        let cycles =
            "var l = []; for (let i = 0; i < 3e4; i++) l.push({}), l[i].a = l[i]; l = null; 0";
        assert_eq!(eval(context, cycles), "0");
    });
    let before = runtime.inner().pause_polls.get();
    runtime.collect_garbage();
    // All objects are marked twice, and garbage is freed.
    let polls = runtime.inner().pause_polls.get() - before;
    assert!(polls > 150, "{polls}");
}

/// A string so long that a comparison polls before its end is still compared completely.
#[test]
fn polls_do_not_change_results() {
    let script = r#"
        const n = 300000, a = 'a'.repeat(n), wide = '\u1234'.repeat(n), mixed = a + wide + a;
        const bytes = new Uint8Array(n).map((_, i) => i), numbers = Float64Array.from(bytes);
        const equal = (x, y) => { if (x !== y) throw new Error(`${String(x).slice(0, 50)} ${String(y).slice(0, 50)}`); };
        equal(a + 'b' < a + 'c', true);
        equal(wide + 'b' < wide + 'c', true);
        equal(a + 'b' === a + 'b', true);
        equal(a + 'b' === a + 'c', false);
        equal(mixed.length, 3 * n);
        equal(mixed.indexOf('\u1234'), n);
        equal(mixed.lastIndexOf('\u1234'), 2 * n - 1);
        equal(mixed.charAt(3 * n - 1), 'a');
        equal((' '.repeat(n) + 'x' + ' '.repeat(n)).trim(), 'x');
        equal(JSON.parse(JSON.stringify(mixed)), mixed);
        equal(decodeURIComponent(encodeURIComponent(mixed)), mixed);
        equal(unescape(escape(mixed)), mixed);
        equal(mixed.normalize(), mixed);
        equal(mixed.toWellFormed(), mixed);
        equal(mixed.toUpperCase().toLowerCase(), mixed);
        equal(new Function('return ' + JSON.stringify(mixed))(), mixed);
        equal(bytes.slice().reverse()[0], bytes[n - 1]);
        equal(bytes.slice().reverse()[n - 1], bytes[0]);
        const moved = bytes.slice();
        moved.copyWithin(1, 0);
        equal(moved[n - 1], bytes[n - 2]);
        moved.copyWithin(0, 1);
        equal(moved[n - 2], bytes[n - 2]);
        equal(moved[0], bytes[0]);
        equal(new Uint8Array(bytes.buffer.slice(5)).indexOf(bytes[5]), 0);
        equal(numbers.fill(7).lastIndexOf(7), n - 1);
        equal(numbers.includes(8), false);
        equal(new Uint8Array(n).fill(3).every((v) => v === 3), true);
        const sorted = bytes.slice().sort();
        equal(sorted.every((v, i) => i === 0 || sorted[i - 1] <= v), true);
        const list = Array.from(bytes, (v, i) => i);
        list.shift();
        equal(list.every((v, i) => v === i + 1), true);
        equal(list.toReversed().every((v, i) => v === n - 1 - i), true);
        equal(list.with(5, 'x')[5] + list.with(5, 'x')[6], 'x7');
        equal(list.toSpliced(1, 1)[1], 3);
        list.reverse();
        equal(list.every((v, i) => v === n - 1 - i), true);
        const big = 3n ** 30000n;
        equal(BigInt(big.toString()), big);
        equal(big * big / big, big);
        equal((big * big + 5n) % big, 5n);
        const keyed = {};
        for (let i = 0; i < 3000; i++) keyed['k' + i] = i;
        equal(Object.keys({ ...keyed }).length, 3000);
        equal({ [mixed]: 9 }[a + wide + a], 9);
        equal(new Map([[mixed, 9]]).get(a + wide + a), 9);
        let chain = { x: 1 };
        for (let i = 0; i < 2000; i++) chain = Object.create(chain);
        equal(chain.x, 1);
        equal('x' in chain, true);
        equal(chain.y, undefined);
        equal(chain instanceof Array, false);
        'same'
    "#;
    assert_eq!(runtime().enter(|context| eval(context, script)), "same");
}

/// A host function may hold something that other users wait for, so dropping a value in it never suspends it. A garbage
/// collection that becomes due meanwhile runs after the function has returned.
#[test]
fn host_functions_are_not_suspended_where_they_drop_values() {
    use super::{Call, Context, Returned};
    thread_local!(static ASKED: Cell<u64> = const { Cell::new(0) });
    fn make<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
        let before = context.inner().pauses_allowed.get();
        for _ in 0..2000 {
            context.object()?;
        }
        let allowed = context.inner().pauses_allowed.get() - before;
        ASKED.set(ASKED.get() + allowed);
        call.argument(0).to_number().map(|n| context.number(n))
    }
    let _alone = alone();
    let runtime = runtime();
    ask_at_every_pause(&runtime);
    let script = Fiber::new(&runtime, |context| {
        let global = context.global();
        global
            .set("make", context.function("make", 1, make).unwrap())
            .unwrap();
        // Larger than a small heap.
        eval(
            context,
            "var a = []; for (let i = 0; i < 2e5; i++) a.push({ i });
            const before = a.length; for (let i = 0; i < 300; i++) make(i); before",
        )
    });
    assert_eq!(block_on(script.unwrap()).unwrap(), "200000");
    assert_eq!(ASKED.get(), 0);
    // The collections still ran at points where they could pause.
    assert!(runtime.inner().pauses_allowed.get() > 100);
}
