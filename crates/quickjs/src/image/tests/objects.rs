//! Cases that the random programs do not cover: host objects, values that Rust keeps, all ways to end, and ES modules.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::image::{Image, NoImage};
use crate::tests::eval;
use crate::{
    Bytecode, Call, Class, Context, Entry, Fiber, InImage, Loader, Module, Persistent, Returned,
    Runtime, Settings, Slot, SourceText, Thrown, Value, block_on,
};

/// The modules of a program, compiled.
#[derive(Default)]
pub(super) struct Modules(Vec<(&'static str, Bytecode)>);

impl Loader for Modules {
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
        if name == "native" {
            return Module::native(context, name, ["made"], |context, exports| {
                exports.set("made", context.array([context.number(1)])?)
            });
        }
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, code)) => Module::load(context, code),
            None => Err(context.throw_plain(format!("no module {name}"))),
        }
    }
}

pub(super) fn settings(loader: Rc<dyn Loader>) -> Settings {
    Settings {
        names: &["alpha", "beta"],
        memory_limit: None,
        loader,
    }
}

pub(super) fn compile(sources: &[(&'static str, &str)]) -> Rc<Modules> {
    let compile = |&(name, source): &(&'static str, &str)| {
        let runtime = Runtime::new(settings(Rc::new(Modules::default())), Rc::new(())).unwrap();
        runtime.enter_with_stack(1 << 20, |context| {
            let module = Module::compile(context, source, name, SourceText::Kept);
            (name, module.ok().unwrap().1)
        })
    };
    Rc::new(Modules(sources.iter().map(compile).collect()))
}

/// An image that this script initializes.
fn image_of(source: &str) -> Result<Image, NoImage> {
    let origin = Image::begin(settings(Rc::new(Modules::default())), Rc::new(()))?;
    origin.enter_with_stack(1 << 20, |context| {
        define(context);
        let said = eval(context, source);
        assert!(!said.starts_with("threw"), "{said}");
        context.run_jobs().unwrap();
    });
    freeze(origin)
}

/// An image as [`in_both_ways`] wants it.
fn freeze(origin: Runtime) -> Result<Image, NoImage> {
    let image = Image::freeze(origin)?;
    if SWAPS.get() {
        image.swap_always();
    }
    Ok(image)
}

/// Runs a test with users whose changes are saved when another user runs, and with users whose changes are saved at every
/// wait.
fn in_both_ways(test: fn()) {
    test();
    SWAPS.set(true);
    test();
    SWAPS.set(false);
}

fn define(context: &Context) {
    let global = context.global();
    let crate_ = context.constructor("Crate", 1, new_crate).unwrap();
    global.define("Crate", crate_).unwrap();
    global
        .define("turn", context.function("turn", 0, turn).unwrap())
        .unwrap();
}

pub(super) fn say(runtime: &Runtime, source: &str) -> String {
    runtime.enter(|context| eval(context, source))
}

thread_local! {
    static CRATES: Cell<i32> = const { Cell::new(0) };
    static SWAPS: Cell<bool> = const { Cell::new(false) };
}

/// A host object with a constant, a value that belongs to its user, and a part that is dropped.
struct Crate {
    label: String,
    content: Slot,
}

impl Drop for Crate {
    fn drop(&mut self) {
        CRATES.set(CRATES.get() - 1);
    }
}

impl Class for Crate {
    const IN_IMAGE: InImage<Self> = InImage::Copied(|context, it| {
        CRATES.set(CRATES.get() + 1);
        let content = Slot::empty();
        if let Some(value) = it.content.get(context) {
            content.set(value);
        }
        Crate {
            label: it.label.clone(),
            content,
        }
    });

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[
            Entry::getter(c"label", |context, call| {
                context.string(&call.this().instance::<Crate>().unwrap().label)
            }),
            Entry::function(c"fill", 1, |context, call| {
                let this = call.this();
                let this = this.instance::<Crate>().unwrap();
                this.content.set(call.argument(0).clone());
                Ok(context.undefined())
            }),
            Entry::getter(c"content", |context, call| {
                let this = call.this();
                let content = this.instance::<Crate>().unwrap().content.get(context);
                Ok(content.unwrap_or_else(|| context.null()))
            }),
        ];
        ENTRIES
    }

    fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        see(&self.content);
    }
}

fn new_crate<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    CRATES.set(CRATES.get() + 1);
    context.instance(Crate {
        label: call.argument(0).to_text()?.into_string(),
        content: Slot::empty(),
    })
}

/// Waits for another turn.
fn turn<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let mut waited = false;
    let wait = poll_fn(move |_| match std::mem::replace(&mut waited, true) {
        false => Poll::Pending,
        true => Poll::Ready(()),
    });
    match context.wait(wait) {
        Ok(()) => Ok(context.undefined()),
        Err(cancelled) => Err(context.cancelled(cancelled)),
    }
}

#[test]
fn host_objects_of_an_image_and_of_its_users_are_dropped_once() {
    in_both_ways(|| {
        let image = image_of("globalThis.first = new Crate('first'); new Crate('gone'); undefined")
            .unwrap();
        // The garbage collection before the image is frozen frees objects that the init code no longer needs.
        assert_eq!(CRATES.get(), 1);
        let users = [(); 3].map(|()| image.start(Rc::new(())).unwrap());
        for (index, user) in users.iter().enumerate() {
            let source = format!(
                "globalThis.own = new Crate('own {index}'); own.fill({{own, text: 'text {index}'}}); new Crate('gone'); \
                 first.label + own.label"
            );
            assert_eq!(say(user, &source), format!("firstown {index}"));
        }
        // One belongs to the image. Each user has its own, and a copy of the one in the image.
        assert_eq!(CRATES.get(), 7);
        for (index, user) in users.iter().enumerate() {
            user.collect_garbage();
            assert_eq!(
                say(user, "own.content.own.content.text"),
                format!("text {index}")
            );
        }
        // A cycle through a host object.
        assert_eq!(say(&users[0], "own = null; typeof own"), "object");
        users[0].collect_garbage();
        assert_eq!(CRATES.get(), 6);
        drop(users);
        assert_eq!(CRATES.get(), 1);
        drop(image);
        assert_eq!(CRATES.get(), 0);
    });
}

#[test]
fn users_have_copies_of_host_objects_that_change() {
    in_both_ways(|| {
        let init = "globalThis.crate = new Crate('shared'); crate.fill(['from init']); undefined";
        let image = image_of(init).unwrap();
        let users = [(); 3].map(|()| image.start(Rc::new(())).unwrap());
        for (index, user) in users.iter().enumerate() {
            assert_eq!(
                say(user, "crate.content[0] + crate.label"),
                "from initshared"
            );
            say(
                user,
                &format!("crate.content.push({index}); crate.fill([crate.content, {index}])"),
            );
            user.collect_garbage();
        }
        assert_eq!(CRATES.get(), 4);
        for (index, user) in users.iter().enumerate() {
            let expected = format!("from init,{index},{index}");
            assert_eq!(say(user, "crate.content.join()"), expected);
        }
        let untouched = image.start(Rc::new(())).unwrap();
        assert_eq!(CRATES.get(), 4);
        assert_eq!(say(&untouched, "crate.content.join()"), "from init");
        drop((users, untouched));
        assert_eq!(CRATES.get(), 1);
        drop(image);
        assert_eq!(CRATES.get(), 0);
    });
}

struct Door;

impl Class for Door {
    const IN_IMAGE: InImage<Self> = InImage::Refused("a door");
}

#[test]
fn refused_host_objects_make_no_image() {
    let origin = Image::begin(settings(Rc::new(Modules::default())), Rc::new(())).unwrap();
    origin.enter(|context| drop(context.instance(Door).ok().unwrap()));
    let refused = Image::freeze(origin).err().unwrap();
    assert_eq!(refused.to_string(), "the init code makes a door");
    let image = image_of("0").unwrap();
    let user = image.start(Rc::new(())).unwrap();
    user.enter(|context| drop(context.instance(Door).ok().unwrap()));
}

#[test]
fn values_that_rust_keeps_are_those_of_their_user() {
    in_both_ways(|| {
        let image = image_of("globalThis.list = [1]; undefined").unwrap();
        let one = image.start(Rc::new(())).unwrap();
        let two = image.start(Rc::new(())).unwrap();
        let keep = |user: &Runtime, source: &str| {
            user.enter(|context| Persistent::new(&context.eval(source, "test.js").unwrap()))
        };
        let of_one = keep(&one, "globalThis.kept = {a: 'of one'}");
        let shared = keep(&one, "list");
        let of_two = keep(&two, "globalThis.kept = {a: 'of two'}; kept");
        let text = |user: &Runtime, kept: &Persistent, name: &str| {
            user.enter(|context| {
                let value = kept.restore(context).get(name).unwrap();
                value.to_text().unwrap().into_string()
            })
        };
        assert_eq!(text(&one, &of_one, "a"), "of one");
        assert_eq!(text(&two, &of_two, "a"), "of two");
        assert_eq!(text(&two, &shared, "length"), "1");
        say(&one, "list.push(2); kept = null");
        assert_eq!(text(&two, &shared, "length"), "1");
        assert_eq!(text(&one, &shared, "length"), "2");
        // Dropped while the other user runs. It is freed in the next turn of its own user.
        let before = one.allocated();
        two.enter(|context| {
            drop(of_one);
            assert_eq!(eval(context, "kept.a"), "of two");
        });
        assert!(say(&one, "'' + kept").contains("null"));
        assert!(one.allocated() < before);
        drop(one);
        drop(two);
        drop((of_two, shared));
    });
}

#[test]
fn exceptions_pass_through_calls_that_waited() {
    in_both_ways(|| {
        let image = image_of(
            "globalThis.fail = (n) => { if (n === 0) { turn(); throw new Error('deep ' + id); } return fail(n - 1); };
             globalThis.id = 0;
             globalThis.run = (n) => { id = n; try { fail(5); } catch (e) { turn(); return e.message + e.stack.length; } };
             globalThis.forever = () => { try { for (;;) turn(); } finally { globalThis.id = 'never'; } };
             undefined",
        )
        .unwrap();
        let users = [(); 4].map(|()| image.start(Rc::new(())).unwrap());
        let mut task = std::task::Context::from_waker(Waker::noop());
        let mut fibers: Vec<_> = users
            .iter()
            .enumerate()
            .map(|(index, user)| {
                let source = format!("run({index})");
                Fiber::new(user, move |context| eval(context, &source)).unwrap()
            })
            .collect();
        let mut ended = vec![None; fibers.len()];
        for _ in 0..3 {
            for (fiber, ended) in fibers.iter_mut().zip(&mut ended) {
                if let Poll::Ready(said) = Pin::new(fiber).poll(&mut task) {
                    *ended = Some(said);
                }
            }
        }
        for (index, ended) in ended.iter().enumerate() {
            assert!(
                ended
                    .as_ref()
                    .unwrap()
                    .starts_with(&format!("deep {index}")),
                "{ended:?}"
            );
        }
        drop(fibers);
        // Scripts that are interrupted while they wait, and users that continue afterwards.
        let mut fibers: Vec<_> = users
            .iter()
            .map(|user| Fiber::new(user, |context| eval(context, "forever()")).unwrap())
            .collect();
        for fiber in &mut fibers {
            assert!(Pin::new(fiber).poll(&mut task).is_pending());
        }
        for fiber in &mut fibers {
            assert!(fiber.cancel().unwrap().contains("interrupted"));
        }
        drop(fibers);
        for (index, user) in users.iter().enumerate() {
            assert_eq!(say(user, "id"), index.to_string());
        }
        // A user can be freed in pieces, too.
        for user in users {
            block_on(user.free().unwrap()).unwrap();
        }
    });
}

#[test]
fn running_out_of_memory_concerns_one_user() {
    in_both_ways(|| {
        let mut settings = settings(Rc::new(Modules::default()));
        settings.memory_limit = Some(4 << 20);
        let origin = Image::begin(settings, Rc::new(())).unwrap();
        say(
            &origin,
            "globalThis.kept = []; globalThis.small = 'x'.repeat(100)",
        );
        let image = freeze(origin).unwrap();
        let hungry = image.start(Rc::new(())).unwrap();
        let modest = image.start(Rc::new(())).unwrap();
        for _ in 0..3 {
            let said = say(
                &hungry,
                "for (;;) kept.push('y'.repeat(10000) + kept.length)",
            );
            assert!(said.contains("out of memory"), "{said}");
            assert_eq!(say(&modest, "kept.push(1)"), "1");
            assert_eq!(say(&modest, "kept.pop(); small.length"), "100");
            assert_eq!(say(&hungry, "kept.length = 0; small.length"), "100");
        }
    });
}

#[test]
fn modules_have_a_state_for_each_user() {
    in_both_ways(|| {
        let loader = compile(&[
            (
                "counter",
                "export let count = 0; export function up() { return ++count; } export default class { static n = 1; }",
            ),
            (
                "main",
                "import Default, { count, up } from 'counter'; import * as all from 'counter'; import { made } from 'native';
                 const cache = new Map(); let last;
                 globalThis.step = (x) => {
                   up(); Default.n *= 2; made.push(x); cache.set(x, count); last = import.meta.url;
                   return [count, all.count, Default.n, made.join('+'), [...cache].join(';'), Object.keys(all)].join(' ');
                 };
                 globalThis.later = async () => { await null; const m = await import('counter'); return m.count + m.up(); };",
            ),
        ]);
        let origin = Image::begin(settings(Rc::clone(&loader) as _), Rc::new(())).unwrap();
        origin.enter(|context| {
            let main = loader.load(context, "main", &context.undefined());
            main.ok().unwrap().evaluate().ok().unwrap();
            context.run_jobs().unwrap();
        });
        let image = freeze(origin).unwrap();
        let users = [(); 3].map(|()| image.start(Rc::new(())).unwrap());
        let steps = |user: &Runtime, times: usize| {
            let all: Vec<_> = (0..times)
                .map(|x| say(user, &format!("step({x})")))
                .collect();
            all.join("\n")
        };
        assert_eq!(
            steps(&users[0], 3).lines().last(),
            Some("3 3 8 1+0+1+2 0,1;1,2;2,3 count,default,up")
        );
        assert_eq!(steps(&users[1], 1), "1 1 2 1+0 0,1 count,default,up");
        assert_eq!(
            steps(&users[2], 2).lines().last(),
            Some("2 2 4 1+0+1 0,1;1,2 count,default,up")
        );
        for (user, expected) in users.iter().zip(["7", "3", "5"]) {
            let source =
                "globalThis.result = 0; later().then((x) => result = x, (e) => result = e); 0";
            say(user, source);
            user.enter(|context| context.run_jobs().unwrap());
            assert_eq!(say(user, "result"), expected);
        }
    });
}

#[test]
fn init_code_that_differs_for_each_user_makes_no_image() {
    let refused = |source: &str| image_of(source).err().unwrap().to_string();
    let time = "the init code asks for the time or a random number";
    assert_eq!(refused("Math.random()"), time);
    assert_eq!(refused("new Date().getTime()"), time);
    assert_eq!(refused("Date.now() > 0"), time);
    assert_eq!(refused("Date().length"), time);
    // The promises are settled when the init code has returned.
    assert!(image_of("new Date(0).toISOString(); Promise.resolve(1).then(() => 2); 0").is_ok());
    let origin = Image::begin(settings(Rc::new(Modules::default())), Rc::new(())).unwrap();
    origin.enter(|context| {
        assert!(context.makes_image());
        context.differs_per_user("one reason");
        context.differs_per_user("another");
    });
    // A thread has one image at a time.
    assert!(Image::begin(settings(Rc::new(Modules::default())), Rc::new(())).is_err());
    assert_eq!(
        Image::freeze(origin).err().unwrap().to_string(),
        "one reason"
    );
    let image = image_of("0").unwrap();
    assert!(image_of("0").is_err());
    let user = image.start(Rc::new(())).unwrap();
    user.enter(|context| {
        assert!(!context.makes_image());
        context.differs_per_user("without effect");
    });
    // The image lives until its last user is gone.
    drop(image);
    assert!(image_of("0").is_err());
    assert_eq!(say(&user, "typeof Date.now()"), "number");
    drop(user);
    assert!(image_of("0").is_ok());
}

#[test]
fn users_have_random_numbers_of_their_own() {
    let image = image_of("globalThis.n = 1; 0").unwrap();
    let users = [(); 3].map(|()| image.start(Rc::new(())).unwrap());
    let numbers: Vec<_> = users
        .iter()
        .map(|user| say(user, "Math.random()"))
        .collect();
    assert!(numbers[0] != numbers[1] && numbers[1] != numbers[2] && numbers[0] != numbers[2]);
}

#[test]
fn an_image_that_is_written_everywhere_still_works() {
    in_both_ways(|| {
        let image = image_of(
            "globalThis.rows = []; for (let i = 0; i < 4000; i++) rows.push({n: 0, name: 'row' + i}); undefined",
        )
        .unwrap();
        assert!(!image.is_written_too_much());
        let users = [(); 2].map(|()| image.start(Rc::new(())).unwrap());
        let add = "for (const row of rows) row.n += 1; rows[17].n";
        let sum = "rows.reduce((sum, row) => sum + row.n, 0)";
        assert_eq!(say(&users[0], add), "1");
        assert!(image.is_written_too_much());
        assert_eq!(say(&users[1], sum), "0");
        assert_eq!(say(&users[0], add), "2");
        assert_eq!(say(&users[1], add), "1");
        assert_eq!(say(&users[0], sum), "8000");
        assert_eq!(say(&users[1], sum), "4000");
        drop(users);
        let user = image.start(Rc::new(())).unwrap();
        assert_eq!(say(&user, sum), "0");
    });
}

#[test]
fn images_of_several_threads_are_apart() {
    in_both_ways(|| {
        let swaps = SWAPS.get();
        let threads: Vec<_> = (0..4)
            .map(|thread| {
                std::thread::spawn(move || {
                    SWAPS.set(swaps);
                    for round in 0..10 {
                        let image =
                            image_of(&format!("globalThis.name = 'thread {thread}'; 0")).unwrap();
                        let users = [(); 5].map(|()| image.start(Rc::new(())).unwrap());
                        for (index, user) in users.iter().enumerate() {
                            say(user, &format!("name += ' user {index} round {round}'"));
                        }
                        for (index, user) in users.iter().enumerate() {
                            let expected = format!("thread {thread} user {index} round {round}");
                            assert_eq!(say(user, "name"), expected);
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
    });
}

#[test]
fn memory_that_a_user_frees_serves_others() {
    in_both_ways(|| {
        let image = image_of("globalThis.kept = null; 0").unwrap();
        let users: RefCell<Vec<Runtime>> = RefCell::default();
        let waste = "kept = []; for (let i = 0; i < 20000; i++) kept.push({i, text: 'text' + i}); kept = null; 0";
        for _ in 0..20 {
            let user = image.start(Rc::new(())).unwrap();
            say(&user, waste);
            let size = user.image_size().unwrap();
            assert!(size.made + size.changed < 16_000, "{size:?}");
            users.borrow_mut().push(user);
        }
    });
}
