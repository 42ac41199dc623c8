//! Tests the wrapper with the real engine.

use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use crate::*;

struct NoModules;

impl Loader for NoModules {
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
        match name {
            "native" => Module::native(context, name, ["number"], |context, exports| {
                exports.set("number", context.number(42))
            }),
            _ => Err(context.throw_plain(format!("no module {name}"))),
        }
    }
}

fn runtime_with<H: std::any::Any>(host: Rc<H>) -> Runtime {
    let settings = Settings {
        names: &["alpha", "beta"],
        memory_limit: None,
        loader: Rc::new(NoModules),
    };
    Runtime::new(settings, host).unwrap()
}

pub(super) fn runtime() -> Runtime {
    runtime_with(Rc::new(()))
}

/// The result of `source` as a string, or the exception that it throws.
pub(super) fn eval(context: &Context, source: &str) -> String {
    match context.eval(source, "test.js") {
        Ok(value) => value.to_text().unwrap().into_string(),
        Err(thrown) => format!("threw {}", context.take_exception(thrown).text()),
    }
}

fn double<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    Ok(context.number(call.argument(0).to_number()? * 2.0))
}

fn faulty<'c>(_: &'c Context, _: &Call<'c>) -> Returned<'c> {
    panic!("on purpose")
}

#[test]
fn host_functions_are_called_and_their_errors_are_exceptions() {
    runtime().enter(|context| {
        let global = context.global();
        global
            .set("double", context.function("double", 1, double).unwrap())
            .unwrap();
        global
            .set("faulty", context.function("faulty", 0, faulty).unwrap())
            .unwrap();
        assert_eq!(
            eval(context, "double(21) + double.name + double.length"),
            "42double1"
        );
        assert_eq!(eval(context, "double()"), "NaN");
        assert_eq!(
            eval(
                context,
                "try { double(Symbol()) } catch (e) { e.constructor.name }"
            ),
            "TypeError"
        );
        let text = eval(context, "try { faulty() } catch (e) { 'caught' }");
        assert!(text.contains("a bug in Plimsoll: on purpose"), "{text}");
    });
}

#[test]
fn exceptions_contain_their_stack() {
    runtime().enter(|context| {
        let thrown = context
            .eval(
                "function f() { throw new Error('no') }\n  f()",
                "file:///a/b.js",
            )
            .unwrap_err();
        let exception = context.take_exception(thrown);
        assert_eq!(exception.text(), "Error: no");
        let frames = exception.frames();
        assert_eq!(frames[0].function, "f");
        assert!(
            frames[0].place.starts_with("file:///a/b.js:1:"),
            "{frames:?}"
        );
        assert!(
            frames[1].place.starts_with("file:///a/b.js:2:"),
            "{frames:?}"
        );
        let long = "x".repeat(1000);
        let exception = context.take_exception(context.throw_plain(&long));
        assert_eq!(exception.text(), format!("GoError: {long}"));
    });
}

#[test]
fn strings_survive_a_round_trip() {
    runtime().enter(|context| {
        for text in ["", "ascii", "é", "日本語 🚢", "a\0b"] {
            assert_eq!(&*context.string(text).unwrap().to_text().unwrap(), text);
        }
        assert_eq!(eval(context, "'a\\ud800b'"), "a\u{fffd}b");
    });
}

#[test]
fn binary_data_is_read_and_written_in_place() {
    runtime().enter(|context| {
        let bytes = |source: &str| context.eval(source, "t").unwrap().to_bytes();
        assert_eq!(bytes("new Uint8Array([1,2,3]).buffer"), Some(vec![1, 2, 3]));
        assert_eq!(
            bytes("new Uint8Array([1,2,3,4]).subarray(1,3)"),
            Some(vec![2, 3])
        );
        assert_eq!(
            bytes("new DataView(new Uint8Array([1,2,3,4]).buffer, 2)"),
            Some(vec![3, 4])
        );
        assert_eq!(bytes("new ArrayBuffer(0)"), Some(vec![]));
        assert_eq!(bytes("[1,2]"), None);
        let array = context
            .eval("globalThis.a = new Uint8Array(3)", "t")
            .unwrap();
        assert_eq!(array.write_bytes(&[9, 8, 7, 6]), Some(3));
        assert_eq!(eval(context, "a.join()"), "9,8,7");
    });
}

/// Properties that a script defines on a view are not read: a getter could return a buffer that nothing keeps alive.
#[test]
fn binary_data_is_found_without_running_scripts() {
    runtime().enter(|context| {
        let bytes = |source: &str| context.eval(source, "t").unwrap().to_bytes();
        let bytes_of_view = |view: &str| {
            bytes(&format!(
                "globalThis.asked = 0;
                globalThis.view = {view};
                for (const name of ['buffer', 'byteOffset', 'byteLength', 'length', 'constructor'])
                    Object.defineProperty(view, name, {{ get() {{ asked++; return new ArrayBuffer(1 << 20) }} }});
                view"
            ))
        };
        for view in [
            "new DataView(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)",
            "new Uint8Array([1, 2, 3, 4]).subarray(1, 3)",
        ] {
            assert_eq!(bytes_of_view(view), Some(vec![2, 3]), "{view}");
            assert_eq!(eval(context, "asked"), "0", "{view}");
        }
        // Buffers that changed after the view was created.
        let resized = |size: usize, view: &str| {
            bytes(&format!(
                "globalThis.b = new ArrayBuffer(4, {{ maxByteLength: 8 }});
                globalThis.v = {view};
                b.resize({size}); v"
            ))
            .map(|bytes| bytes.len())
        };
        for (size, view, length) in [
            (2, "new DataView(b, 1)", Some(1)),
            (8, "new DataView(b, 1)", Some(7)),
            (2, "new DataView(b, 1, 3)", None),
            (0, "new DataView(b, 1)", None),
            (7, "new Uint16Array(b)", Some(6)),
            (3, "new Uint16Array(b, 0, 2)", None),
            (8, "new Uint16Array(b, 0, 2)", Some(4)),
        ] {
            assert_eq!(resized(size, view), length, "{view} at {size}");
        }
        for view in ["b", "new DataView(b)", "new Uint8Array(b)"] {
            let detached = format!(
                "globalThis.b = new ArrayBuffer(4); globalThis.v = {view}; b.transfer(); v"
            );
            assert_eq!(bytes(&detached), None, "{view}");
        }
    });
}

struct Ship {
    name: String,
    cargo: [Slot; 1],
    sunk: Rc<Cell<u32>>,
}

impl Drop for Ship {
    fn drop(&mut self) {
        self.sunk.set(self.sunk.get() + 1);
    }
}

impl Class for Ship {
    const IN_IMAGE: InImage<Self> = InImage::Shared;
    const EXOTIC: bool = true;
    const LISTS_METHODS: bool = true;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"hail", 0, hail)];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.cargo.iter().for_each(see);
    }

    fn get<'c>(
        &self,
        context: &'c Context,
        _: &Value<'c>,
        key: &Atom<'c>,
    ) -> Result<Option<Value<'c>>, Thrown> {
        if key.is(Name(0)) {
            return context.string(&self.name).map(Some);
        }
        if key.is(Name(1)) {
            return Ok(Some(
                self.cargo[0].get(context).unwrap_or_else(|| context.null()),
            ));
        }
        Ok(None)
    }

    fn set<'c>(
        &self,
        _: &'c Context,
        key: &Atom<'c>,
        value: &Value<'c>,
    ) -> Result<Assignment, Thrown> {
        if key.is(Name(1)) {
            self.cargo[0].set(value.clone());
            return Ok(Assignment::Done);
        }
        Ok(if key.is(Name(0)) {
            Assignment::Refused
        } else {
            Assignment::Ordinary
        })
    }

    fn keys<'c>(&self, context: &'c Context) -> Result<Vec<Atom<'c>>, Thrown> {
        Ok(vec![
            Atom::new(context, Name(0)),
            Atom::new(context, Name(1)),
        ])
    }
}

fn hail<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match call.this().instance::<Ship>() {
        Some(ship) => context.string(&format!("ahoy {}", ship.name)),
        None => Err(context.throw_type("not a ship")),
    }
}

#[test]
fn host_objects_compute_their_properties() {
    let sunk = Rc::new(Cell::new(0));
    let runtime = runtime();
    runtime.enter(|context| {
        let ship = Ship {
            name: "Plim".into(),
            cargo: [Slot::empty()],
            sunk: sunk.clone(),
        };
        context
            .global()
            .set("ship", context.instance(ship).unwrap())
            .unwrap();
        assert_eq!(
            eval(context, "ship.alpha + ship.beta + ship.gamma"),
            "Plimnullundefined"
        );
        assert_eq!(eval(context, "ship.hail()"), "ahoy Plim");
        for detached in [
            "ship.hail.call({})",
            "const { hail } = ship; hail()",
            "const { hail: other, ...rest } = ship; other() && rest.beta === null ? other() : ''",
            "({ ...ship }).hail()",
            "Object.assign({}, ship).hail()",
            "Object.create(ship).hail()",
            "(({ hail = 1 }) => hail())(ship)",
            "let named; ({ hail: named } = ship); named()",
        ] {
            assert_eq!(eval(context, &format!("{{ {detached} }}")), "ahoy Plim");
        }
        assert_eq!(
            eval(context, "Object.getPrototypeOf(ship).hail.call({})"),
            "threw TypeError: not a ship"
        );
        assert_eq!(
            eval(
                context,
                "ship.beta = [1]; ship.extra = 2; JSON.stringify(ship)"
            ),
            { r#"{"extra":2,"alpha":"Plim","beta":[1]}"# }
        );
        assert_eq!(
            eval(context, "'use strict'; ship.alpha = 1"),
            "threw TypeError: cannot assign to property 'alpha'"
        );
        assert_eq!(
            eval(context, "Object.keys(ship).join() + ('beta' in ship)"),
            "extra,alpha,beta,hailtrue"
        );
        assert_eq!(
            eval(context, "Object.hasOwn(ship, 'hail') + ship['hail']()"),
            "trueahoy Plim"
        );
        // The garbage collector must find a cycle through a slot.
        eval(
            context,
            "ship.beta = { back: ship }; globalThis.ship = undefined",
        );
    });
    assert_eq!(sunk.get(), 0);
    runtime.collect_garbage();
    assert_eq!(sunk.get(), 1);
}

#[test]
fn a_runtime_frees_values_that_rust_still_holds() {
    let sunk = Rc::new(Cell::new(0));
    let runtime = runtime();
    let kept = runtime.enter(|context| {
        let ship = Ship {
            name: "Kept".into(),
            cargo: [Slot::empty()],
            sunk: sunk.clone(),
        };
        Persistent::new(&context.instance(ship).unwrap())
    });
    runtime.enter(|context| assert!(kept.restore(context).instance::<Ship>().is_some()));
    drop(runtime);
    assert_eq!(sunk.get(), 1);
    drop(kept);
}

#[test]
fn modules_are_compiled_once_and_loaded_from_bytecode() {
    let bytecode = runtime().enter(|context| {
        let source = "import { number } from 'native'; export const twice = number * 2;";
        let (module, bytecode) =
            Module::compile(context, source, "m.js", SourceText::Dropped).unwrap();
        assert!(module.has_module_syntax());
        assert!(
            !Module::compile(context, "var a = 1", "s.js", SourceText::Dropped)
                .unwrap()
                .0
                .has_module_syntax()
        );
        bytecode
    });
    runtime().enter(|context| {
        let module = Module::load(context, &bytecode).unwrap();
        let done = module.evaluate().unwrap();
        assert!(matches!(
            done.promise_state(),
            Some(PromiseState::Fulfilled(_))
        ));
        assert_eq!(
            module
                .namespace()
                .unwrap()
                .get("twice")
                .unwrap()
                .as_number(),
            Some(84.0)
        );
    });
}

#[test]
fn failed_imports_are_reported() {
    runtime().enter(|context| {
        let (module, _) =
            Module::compile(context, "import 'nowhere'", "m.js", SourceText::Dropped).unwrap();
        let exception = context.take_exception(module.evaluate().unwrap_err());
        assert_eq!(exception.text(), "GoError: no module nowhere");
    });
}

/// Wraps a function in one that adds a plus sign to `marks` before and after a call.
fn marking<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    context.function_with(&call.argument(0), |context, call| {
        let mark = || -> Result<(), Thrown> {
            let marks = context.global().get("marks")?.to_text()?.into_string();
            context
                .global()
                .set("marks", context.string(&(marks + "+"))?)
        };
        mark()?;
        let arguments: Vec<_> = call.arguments().skip(1).map(|one| (*one).clone()).collect();
        let arguments: Vec<_> = arguments.iter().collect();
        let result = call.argument(0).call(&call.this(), &arguments);
        mark()?;
        result
    })
}

#[test]
fn all_reactions_of_promises_pass_through_the_wrapper() {
    runtime().enter(|context| {
        context.wrap_reactions(marking);
        let source = "
            globalThis.marks = '';
            const mark = (text) => { globalThis.marks += text; };
            Promise.resolve('then').then(mark);
            Promise.reject('catch').catch(mark);
            Promise.resolve().then(5).finally(() => mark('finally'));
            (async () => { mark(await 'await'); for await (const one of ['for']) mark(one); })();
            (async () => { try { await Promise.reject('thrown'); } catch (e) { mark(e); } })();
            (async function* () { mark('generator'); yield 1; })().next();
            Promise.resolve().then(() => { throw 'lost'; });
            undefined";
        eval(context, source);
        context.run_jobs().unwrap();
        let marks = eval(context, "marks");
        for reaction in [
            "+then+",
            "+catch+",
            "+finally+",
            "+await+",
            "+for+",
            "+thrown+",
        ] {
            assert!(marks.contains(reaction), "{reaction}: {marks}");
        }
        assert_eq!(context.take_unhandled_rejection().unwrap().text(), "lost");
    });
}

#[test]
fn rejections_are_kept_until_they_are_read() {
    runtime().enter(|context| {
        eval(context, "globalThis.p = Promise.reject(new Error('left alone')); Promise.reject(1).catch(() => 0)");
        context.run_jobs().unwrap();
        let rejection = context.take_unhandled_rejection().unwrap();
        assert_eq!(rejection.text(), "Error: left alone");
        assert!(context.take_unhandled_rejection().is_none());
    });
}

fn pause<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let mut turns = call.argument(0).to_number()?;
    let waited = context.wait(poll_fn(|_| {
        turns -= 1.0;
        if turns < 0.0 {
            Poll::Ready("done")
        } else {
            Poll::Pending
        }
    }));
    match waited {
        Ok(text) => context.string(text),
        Err(cancelled) => Err(context.cancelled(cancelled)),
    }
}

fn fiber(runtime: &Runtime, source: &'static str) -> Fiber<String> {
    Fiber::new(runtime, move |context| {
        context
            .global()
            .set("pause", context.function("pause", 1, pause).unwrap())
            .unwrap();
        eval(context, source)
    })
    .unwrap()
}

fn poll<R>(fiber: &mut Fiber<R>) -> Poll<R> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    std::pin::Pin::new(fiber).poll(&mut context)
}

#[test]
fn a_script_waits_in_the_middle_of_synchronous_code() {
    let runtime = runtime();
    let mut running = fiber(&runtime, "[1].map(() => pause(2)).join() + pause(0)");
    assert!(poll(&mut running).is_pending());
    assert!(poll(&mut running).is_pending());
    assert_eq!(poll(&mut running), Poll::Ready("donedone".to_owned()));
    drop(running);
    // The stack can be reused for the next fiber.
    assert_eq!(
        poll(&mut fiber(&runtime, "1 + 1")),
        Poll::Ready("2".to_owned())
    );
}

#[test]
fn a_cancelled_script_catches_nothing() {
    let runtime = runtime();
    let source = "globalThis.log = ''; for (;;) { try { pause(1e9) } catch { log += 'c' } finally { log += 'f' } }";
    let mut running = fiber(&runtime, source);
    assert!(poll(&mut running).is_pending());
    assert_eq!(
        running.cancel().as_deref(),
        Some("threw InternalError: interrupted")
    );
    runtime.enter(|context| assert_eq!(eval(context, "log"), ""));
    // Dropping a fiber works in any state.
    let mut running = fiber(&runtime, source);
    assert!(poll(&mut running).is_pending());
    drop(running);
    drop(fiber(&runtime, source));
    assert_eq!(
        poll(&mut fiber(&runtime, "'alive'")),
        Poll::Ready("alive".to_owned())
    );
}

#[test]
fn many_scripts_interleave_on_one_thread() {
    let mut running: Vec<_> = (0..50)
        .map(|_| {
            fiber(
                &runtime(),
                "let n = 0; for (let i = 0; i < 40; i++) { try { pause(1); if (i % 3 == 0) throw Error('e'); n++ }
                 catch (e) { pause(1) } } n",
            )
        })
        .collect();
    while !running.is_empty() {
        running.retain_mut(|fiber| match poll(fiber) {
            Poll::Ready(text) => {
                assert_eq!(text, "26");
                false
            }
            Poll::Pending => true,
        });
    }
}

#[test]
fn deep_recursion_is_an_exception() {
    let runtime = runtime();
    for source in [
        "var d = 0; var f = () => { d++; f() }; try { f() } catch (e) { d > 100 && e.message }",
        "var d = 0; var f = () => { d++; [1].forEach(f) }; try { f() } catch (e) { d > 50 && e.message }",
        "try { JSON.parse('['.repeat(200000)) } catch (e) { 'Maximum call stack size exceeded' }",
        "var o = {}; for (let i = 0; i < 100000; i++) o = { o }; try { JSON.stringify(o) } catch (e) { e.message }",
    ] {
        let text = block_on(fiber(&runtime, source)).unwrap();
        assert_eq!(text, "Maximum call stack size exceeded", "{source}");
    }
}

#[test]
fn thousands_of_runtimes_leave_nothing_behind() {
    let sunk = Rc::new(Cell::new(0));
    for _ in 0..2000 {
        let runtime = runtime();
        let ship = Ship {
            name: "Many".into(),
            cargo: [Slot::empty()],
            sunk: sunk.clone(),
        };
        let source = "globalThis.ship.beta = ship; pause(1); pause(1e9)";
        let mut running = Fiber::new(&runtime, move |context| {
            context
                .global()
                .set("pause", context.function("pause", 1, pause).unwrap())
                .unwrap();
            context
                .global()
                .set("ship", context.instance(ship).unwrap())
                .unwrap();
            eval(context, source)
        })
        .unwrap();
        assert!(poll(&mut running).is_pending());
        assert!(poll(&mut running).is_pending());
    }
    assert_eq!(sunk.get(), 2000);
}
