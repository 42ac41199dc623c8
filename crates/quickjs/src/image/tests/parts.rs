//! Images of the modules that run before the first one that differs between users.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::objects::{compile, say, settings};
use crate::image::Image;
use crate::tests::eval;
use crate::{Call, Context, Loader, Module, Returned, Runtime, Value};

/// The arguments of the calls of the host function `note`, in order.
#[derive(Default)]
struct Notes {
    user: Cell<u32>,
    all: RefCell<Vec<String>>,
}

fn note<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let notes: &Notes = context.host();
    notes
        .all
        .borrow_mut()
        .push(call.argument(0).to_text()?.into_string());
    Ok(context.number(notes.user.get()))
}

/// The names of the modules that can be evaluated one by one before the module `main` of these sources.
fn one_by_one(sources: &[(&'static str, &str)]) -> Vec<String> {
    let loader = compile(sources);
    let notes = Rc::new(Notes::default());
    let runtime = Runtime::new(settings(Rc::clone(&loader) as _), Rc::clone(&notes)).unwrap();
    runtime.enter_with_stack(1 << 20, |context| {
        let note = context.function("note", 1, note).unwrap();
        context.global().define("note", note).unwrap();
        let main = loader.load(context, "main", &context.undefined());
        let main = main.ok().unwrap();
        main.link().ok().unwrap();
        for module in main.imports_one_by_one() {
            module.evaluate().ok().unwrap();
        }
        let first = notes.all.take();
        main.evaluate().ok().unwrap();
        context.run_jobs().unwrap();
        // The same order as without a first part.
        let again = Runtime::new(settings(Rc::clone(&loader) as _), Rc::clone(&notes)).unwrap();
        let rest = notes.all.take();
        again.enter_with_stack(1 << 20, |context| {
            let note = context.function("note", 1, self::note).unwrap();
            context.global().define("note", note).unwrap();
            let main = loader.load(context, "main", &context.undefined());
            main.ok().unwrap().evaluate().ok().unwrap();
            context.run_jobs().unwrap();
        });
        let whole: Vec<_> = first.iter().cloned().chain(rest).collect();
        assert_eq!(whole, notes.all.take());
        first
    })
}

#[test]
fn modules_that_run_one_by_one_end_before_circles_and_waits() {
    let found = one_by_one(&[
        ("a", "import 'b'; note('a')"),
        ("b", "note('b')"),
        ("c", "import 'b'; import 'a'; note('c')"),
        (
            "main",
            "import 'a'; import 'native'; import 'c'; note('main')",
        ),
    ]);
    assert_eq!(found, ["b", "a", "c"]);
    let found = one_by_one(&[
        ("a", "note('a')"),
        ("x", "import 'leaf'; import 'y'; note('x')"),
        ("y", "import 'x'; note('y')"),
        ("leaf", "note('leaf')"),
        ("after", "note('after')"),
        (
            "main",
            "import 'a'; import 'x'; import 'after'; note('main')",
        ),
    ]);
    assert_eq!(found, ["a", "leaf"]);
    let found = one_by_one(&[
        ("a", "note('a')"),
        ("waits", "await null; note('waits')"),
        ("after", "note('after')"),
        (
            "main",
            "import 'a'; import 'waits'; import 'after'; note('main')",
        ),
    ]);
    assert_eq!(found, ["a"]);
    let found = one_by_one(&[
        ("a", "import 'main'; note('a')"),
        ("main", "import 'a'; note('main')"),
    ]);
    assert!(found.is_empty());
}

#[test]
fn users_run_the_rest_on_top_of_the_first_part() {
    for swaps in [false, true] {
        let loader = compile(&[
            (
                "library",
                "note('library'); export const rows = [1, 2, 3]; export let ups = 0; export const up = () => ++ups;
                 export class Thing { #n = 0; bump() { return ++this.#n; } }",
            ),
            (
                "main",
                "import { rows, ups, up, Thing } from 'library'; import { made } from 'native'; import * as all from 'library';
                 const id = note('main'); rows.push(id); up(); made.push(id);
                 const thing = new Thing(); function tag(s) { s.raw.length; return s; }
                 export const text = () => [id, rows.join('+'), ups, all.ups, made.join('+'), thing.bump(), tag`x${0}y`.join('')].join(' ');
                 globalThis.text = text;",
            ),
        ]);
        let notes = Rc::new(Notes::default());
        let origin = Image::begin(settings(Rc::clone(&loader) as _), Rc::clone(&notes)).unwrap();
        origin.enter_with_stack(1 << 20, |context| {
            let note = context.function("note", 1, note).unwrap();
            context.global().define("note", note).unwrap();
            let main = loader.load(context, "main", &context.undefined());
            let main = main.ok().unwrap();
            main.link().ok().unwrap();
            // Without the module of the host, which each user fills.
            main.imports_one_by_one()[0].evaluate().ok().unwrap();
        });
        assert_eq!(notes.all.take(), ["library"]);
        let image = Image::freeze(origin).unwrap();
        if swaps {
            image.swap_always();
        }
        let users = [1, 2, 3].map(|user| {
            let notes = Rc::new(Notes::default());
            notes.user.set(user);
            (image.start(Rc::clone(&notes)).unwrap(), notes)
        });
        let main = |user: &Runtime| {
            user.enter_with_stack(1 << 20, |context| {
                let main = Module::loaded(context, "main").ok().unwrap().unwrap();
                main.evaluate().ok().unwrap();
                context.run_jobs().unwrap();
                assert!(Module::loaded(context, "other").ok().unwrap().is_none());
            });
        };
        users.iter().for_each(|(user, _)| main(user));
        for (index, (user, notes)) in users.iter().enumerate() {
            let id = index + 1;
            assert_eq!(notes.all.take(), ["main"]);
            let expected = format!("{id} 1+2+3+{id} 1 1 1+{id} 1 xy");
            assert_eq!(say(user, "text()"), expected);
            user.collect_garbage();
            assert!(user.image_size().unwrap().made < 20_000);
        }
        assert_eq!(say(&users[1].0, "text()"), "2 1+2+3+2 1 1 1+2 2 xy");
    }
}

#[test]
fn scripts_that_were_prepared_are_run_by_each_user() {
    let runtime = Runtime::new(
        settings(Rc::new(super::objects::Modules::default())),
        Rc::new(()),
    );
    let code = runtime.unwrap().enter_with_stack(1 << 20, |context| {
        let source = "(function () { globalThis.count = (globalThis.count || 0) + 1; return `${count} of ${typeof Map}`; })";
        crate::Bytecode::of_script(context, source, "script.js", crate::SourceText::Kept)
            .ok()
            .unwrap()
    });
    let modules: Rc<dyn Loader> = Rc::new(super::objects::Modules::default());
    // A heap that becomes no image frees its scripts.
    let origin = Image::begin(settings(Rc::clone(&modules)), Rc::new(())).unwrap();
    origin.enter(|context| context.prepare(&code).ok().unwrap());
    drop(origin);
    let origin = Image::begin(settings(modules), Rc::new(())).unwrap();
    origin.enter(|context| context.prepare(&code).ok().unwrap());
    let image = Image::freeze(origin).unwrap();
    let users = [(); 2].map(|()| image.start(Rc::new(())).unwrap());
    for round in 1..=2 {
        for user in &users {
            let said = user.enter(|context| {
                let function = context.run(&code).ok().unwrap();
                let said: Value<'_> = function.call(&context.undefined(), &[]).ok().unwrap();
                said.to_text().ok().unwrap().into_string()
            });
            assert_eq!(said, format!("{round} of function"));
            assert_eq!(
                user.enter(|context| eval(context, "count")),
                round.to_string()
            );
        }
    }
}
