//! The parts that runtimes of a thread share, and those they create on first access.

use crate::tests::{eval, runtime};

/// Expressions that need each group of intrinsics, by its constructor or from inside the engine.
const USES: [(&str, &str); 12] = [
    ("'abc'.replace(/b/, 'X')", "aXc"),
    ("'abc'.match('b').index", "1"),
    ("[...'a-b'.matchAll('-')].length", "1"),
    ("RegExp('b').test('abc')", "true"),
    ("new Date(0).toISOString()", "1970-01-01T00:00:00.000Z"),
    ("[...new Map([[1, 2]]).entries()].join()", "1,2"),
    ("Map.groupBy([1, 2, 3], (n) => n % 2).get(1).join()", "1,3"),
    (
        "new Set([1, 1]).size + new WeakSet().toString()",
        "1[object WeakSet]",
    ),
    ("Uint8Array.from([1, 2]).map((n) => n * 2).join()", "2,4"),
    ("new DataView(new ArrayBuffer(2)).byteLength", "2"),
    (
        "const kept = {}; new WeakRef(kept).deref() === kept",
        "true",
    ),
    (
        "class Longer extends Array {}; Longer.from([1]).length",
        "1",
    ),
];

#[test]
fn intrinsics_made_on_demand_are_those_made_at_once() {
    for (source, expected) in USES {
        // Each in a runtime of its own, so that this expression is the first access.
        runtime().enter(|context| assert_eq!(eval(context, source), expected, "{source}"));
    }
    runtime().enter(|context| {
        for (source, expected) in USES {
            assert_eq!(eval(context, source), expected, "{source}");
        }
    });
}

#[test]
fn globals_made_on_demand_look_and_behave_like_any_others() {
    runtime().enter(|context| {
        let descriptor = "JSON.stringify(Object.getOwnPropertyDescriptor(globalThis, 'Float64Array'), \
                          (key, value) => typeof value === 'function' ? value.name : value)";
        let expected = r#"{"value":"Float64Array","writable":true,"enumerable":false,"configurable":true}"#;
        assert_eq!(eval(context, descriptor), expected);
        assert_eq!(eval(context, "Map = 5; typeof new Set() + Map"), "object5");
        assert_eq!(eval(context, "delete globalThis.WeakRef; typeof WeakRef"), "undefined");
        assert_eq!(eval(context, "'b'.match(/b/).length"), "1");
        assert_eq!(eval(context, "Object.getPrototypeOf(/b/) === RegExp.prototype"), "true");
        assert_eq!(
            eval(context, "Object.getPrototypeOf(Int8Array) === Object.getPrototypeOf(Uint8Array)"),
            "true"
        );
    });
}

#[test]
fn runtimes_of_a_thread_share_names_and_nothing_else() {
    let (one, two) = (runtime(), runtime());
    one.enter(|context| {
        let source = "globalThis.length = 'mine'; globalThis.own = Symbol.for('own'); \
                      const marked = new WeakMap([[Symbol.iterator, 1]]); \
                      Object.prototype.tainted = 1; length";
        assert_eq!(eval(context, source), "mine");
    });
    two.enter(|context| {
        let source = "typeof globalThis.length + typeof globalThis.own + typeof {}.tainted";
        assert_eq!(eval(context, source), "undefinedundefinedundefined");
        // A name that first one runtime defines and then the other, and as a computed key.
        assert_eq!(
            eval(context, "const key = 'o' + 'wn'; ({[key]: 3}).own"),
            "3"
        );
    });
    drop(one);
    two.enter(|context| {
        assert_eq!(
            eval(context, "Object.keys({length: 1, own: 2, x9: 3}).join()"),
            "length,own,x9"
        );
        assert_eq!(eval(context, "[][Symbol.iterator].name"), "values");
    });
}

#[test]
fn an_idle_runtime_takes_less_than_forty_kilobytes() {
    // The first runtime of a thread creates the parts that the others share.
    drop(runtime());
    let size = runtime().allocated();
    assert!((10_000..40_000).contains(&size), "{size} bytes");
}
