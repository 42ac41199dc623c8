//! Tests of the parts that a thread's runtimes share, and of those that they create on first access.

use std::rc::Rc;

use crate::tests::{eval, runtime};
use crate::{
    Bytecode, Context, Fiber, Loader, Module, Runtime, Settings, SourceText, Thrown, Value,
    block_on,
};

/// Expressions that need one group of intrinsics each, through its constructor or from inside the engine.
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
fn intrinsics_created_on_demand_equal_those_created_at_the_start() {
    for (source, expected) in USES {
        // Each expression gets its own runtime, so that it is the first access.
        runtime().enter(|context| assert_eq!(eval(context, source), expected, "{source}"));
    }
    runtime().enter(|context| {
        for (source, expected) in USES {
            assert_eq!(eval(context, source), expected, "{source}");
        }
    });
}

#[test]
fn globals_created_on_demand_behave_like_others() {
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
fn runtimes_of_a_thread_share_only_names() {
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
        // A name that first one runtime defines and then the other, also as a computed key.
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
fn an_idle_runtime_uses_less_than_forty_kilobytes() {
    // A thread's first runtime creates the parts that the others share.
    drop(runtime());
    let size = runtime().allocated();
    assert!((10_000..40_000).contains(&size), "{size} bytes");
}

/// A module whose functions have constants of every kind except the one that cannot be shared.
const LIBRARY: &str = "
    let count = 0;
    const table = { id: 'entry', '17': 'numeric', big: 123456789012345678901234567890n };
    export class Counter {
      #hidden = 'a private text';
      static made = 0;
      constructor(step) { this.step = step; Counter.made += 1; }
      next() { count += this.step; return `${this.#hidden} ${count}`; }
      get double() { return this.step * 2; }
    }
    export function* numbers() { yield 1; yield* [2, 3]; }
    export const later = async (text) => { await null; return text + ' later'; };
    export function fail() { throw new TypeError('as expected'); }
    export function keys() {
      table['a name that ' + 'one runtime makes'] = Symbol.for('4294967299').description;
      return Object.keys(table).join() + Symbol.for('17').toString() + table.big;
    }
    export function scoped(value) { return eval('value + count'); }
    export const found = (text) => text.replace(/([a-z]+) (\\d)/g, '$2 $1');
    export const own = () => [Counter.made, count, typeof globalThis.mark].join();
    export const cycle = () => { const one = { f() { return one; } }; one.self = one; return one.f().self === one; };";

/// Uses everything in [`LIBRARY`] and changes everything that it can reach.
const USER: &str = "
    import * as all from 'library';
    const counter = new all.Counter(2);
    const parts = [all.own(), counter.next(), counter.next(), counter.double, [...all.numbers()].join(), all.keys(),
      all.scoped(5), all.found('one 1 two 2'), all.cycle(), all.own(), all.keys.name, all.Counter.name];
    try { all.fail(); } catch (error) { parts.push(error.stack); }
    all.Counter.prototype.next = () => 'changed';
    all.Counter.made = 100;
    globalThis.mark = 1;
    parts.push(counter.next());
    all.later('it is').then((text) => { parts.push(text); globalThis.result = parts.join(' | '); });
    globalThis.parts = parts;";

/// Finds two modules in stored code, and lets runtimes share them if it is configured to.
struct Stored {
    modules: Vec<(&'static str, Bytecode)>,
    is_shared: bool,
}

impl Stored {
    fn compile(sources: &[(&'static str, &str)], is_shared: bool) -> Rc<Self> {
        let compiled = sources.iter().map(|(name, source)| {
            let compile = |context: &Context| {
                Module::compile(context, source, name, SourceText::Dropped)
                    .unwrap()
                    .1
            };
            (*name, runtime().enter(compile))
        });
        Rc::new(Stored {
            modules: compiled.collect(),
            is_shared,
        })
    }

    fn runtime(self: &Rc<Self>) -> Runtime {
        let settings = Settings {
            names: &["alpha"],
            memory_limit: None,
            loader: Rc::clone(self) as Rc<dyn Loader>,
        };
        Runtime::new(settings, Rc::new(())).unwrap()
    }
}

impl Loader for Stored {
    fn resolve<'c>(
        &self,
        _: &'c Context,
        _: &str,
        name: &str,
        _: &Value<'c>,
    ) -> Result<String, Thrown> {
        Ok(name.to_owned())
    }

    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        _: &Value<'c>,
    ) -> Result<Module<'c>, Thrown> {
        let found = self.modules.iter().find(|(known, _)| *known == name);
        Module::load(context, &found.unwrap().1)
    }

    fn code(&self) -> Vec<Bytecode> {
        let code = self.modules.iter().map(|(_, code)| code.clone());
        code.filter(|_| self.is_shared).collect()
    }
}

/// The result that the module `user` computes in this runtime.
fn run_user(runtime: &Runtime) -> String {
    let running = block_on(
        Fiber::new(runtime, |context| {
            let user = context
                .inner()
                .loader
                .load(context, "user", &context.undefined());
            user.unwrap().evaluate().unwrap();
            while context.run_jobs().unwrap() {}
            eval(context, "result")
        })
        .unwrap(),
    );
    running.unwrap()
}

/// Runs `body` on a new thread. The thread's first runtime decides what is shared.
fn on_new_thread<R: Send + 'static>(body: impl FnOnce() -> R + Send + 'static) -> R {
    std::thread::spawn(body).join().unwrap()
}

#[test]
fn shared_code_behaves_like_private_code() {
    let modules = [("library", LIBRARY), ("user", USER)];
    let own = on_new_thread(move || run_user(&Stored::compile(&modules, false).runtime()));
    assert!(
        own.contains("a private text 2 | a private text 4 | 4 | 1,2,3"),
        "{own}"
    );
    assert!(own.contains("at fail (library:13:"), "{own}");
    on_new_thread(move || {
        let compiled = on_new_thread(move || Stored::compile(&modules, true).modules.clone());
        let stored = Rc::new(Stored {
            modules: compiled,
            is_shared: true,
        });
        let first = stored.runtime();
        assert_eq!(run_user(&first), own);
        let second = stored.runtime();
        first.collect_garbage();
        assert_eq!(run_user(&second), own);
        drop(first);
        second.collect_garbage();
        assert_eq!(second.enter(|context| eval(context, "parts.length")), "15");
        drop(second);
        assert_eq!(run_user(&stored.runtime()), own);
    });
}

#[test]
fn shared_code_uses_no_memory_of_a_runtime() {
    let functions: String = (0..500)
        .map(|n| format!("export function f{n}(a, b) {{ return a > b ? 'text {n}' + a : [b, '{n}', a * {n}].join(); }}\n"))
        .collect();
    let size = move |is_shared| {
        let functions = functions.clone();
        on_new_thread(move || {
            let modules = on_new_thread(move || {
                let sources = [
                    ("library", &*functions),
                    (
                        "user",
                        "import { f1 } from 'library'; globalThis.result = f1(2, 1);",
                    ),
                ];
                Stored::compile(&sources, false).modules.clone()
            });
            let stored = Rc::new(Stored { modules, is_shared });
            let runtime = stored.runtime();
            assert_eq!(run_user(&runtime), "text 12");
            runtime.allocated()
        })
    };
    let (own, shared) = (size(false), size(true));
    assert!(
        shared + 200_000 < own,
        "{shared} bytes, {own} without sharing"
    );
}

#[test]
fn each_runtime_has_its_own_template_objects() {
    let source = "
        const tag = (parts) => parts;
        const outer = () => () => tag`a${1}\\n${2}c`;
        const [first, again] = [outer()(), outer()()];
        const count = (() => { let n = 0; return () => n += 1; })();
        count();
        globalThis.result = [first === again, Object.isFrozen(first), first.length, first.join('|') === 'a|\\n|c',
          first.raw.join('|'), Object.isFrozen(first.raw), Object.keys(first), count()].join(' ');";
    let modules = [("user", source)];
    let own = on_new_thread(move || run_user(&Stored::compile(&modules, false).runtime()));
    assert!(
        own.starts_with("true ") && own.contains(r" 3 true a|\n|c "),
        "{own}"
    );
    on_new_thread(move || {
        let modules = on_new_thread(move || Stored::compile(&modules, false).modules.clone());
        let stored = Rc::new(Stored {
            modules,
            is_shared: true,
        });
        let first = stored.runtime();
        for runtime in [first.clone(), stored.runtime(), stored.runtime()] {
            assert_eq!(run_user(&runtime), own);
            runtime.collect_garbage();
        }
        let again = first.enter(|context| eval(context, "result"));
        assert_eq!(again, own);
    });
}
