//! Random programs that operate on state created by the init code, with users that take turns in random order.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use crate::image::Image;
use crate::{
    Call, Context, Fiber, Loader, Module, Persistent, Returned, Runtime, Settings, Thrown, Value,
    sys,
};

const STATE: &str = include_str!("state.js");
/// The bodies of functions with two parameters, a response and a number. One per line.
const OPERATIONS: &str = include_str!("operations.txt");

/// A random number generator (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit as u64) as usize
    }
}

/// A program with some of the operations, which runs after [`STATE`]. It sets `iterate`.
fn program(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    random.below(2);
    let mut operations: Vec<&str> = OPERATIONS.lines().collect();
    let count = 8 + random.below(operations.len() - 7);
    let mut text = String::new();
    for index in 0..count {
        let body = operations.swap_remove(random.below(operations.len()));
        text += &format!("function op{index}(r,k){{ {body} }}\n");
    }
    let names: Vec<_> = (0..count).map(|index| format!("op{index}")).collect();
    let most = 1 + random.below(6);
    text += &format!("const ops=[{}]; let it=0;\n", names.join(","));
    text += &format!(
        "var iterate=function(){{ it++; const n=1+R({most}); for(let i=0;i<n;i++){{ const r=get('u'+it); \
         const f=ops[R(ops.length)]; let v; try{{ v=f(r,it*10+i); }}catch(e){{ v='EX '+e; }} \
         out(f.name+' '+it+' '+String(v)); }} }};\n"
    );
    text
}

/// The state of one user for its host functions.
#[derive(Default)]
struct User {
    id: u32,
    requests: Cell<u64>,
    said: RefCell<Vec<String>>,
}

struct NoModules;

impl Loader for NoModules {
    fn resolve<'c>(
        &self,
        context: &'c Context,
        _: &str,
        name: &str,
        _: &Value<'c>,
    ) -> Result<String, Thrown> {
        Err(context.throw_plain(format!("no module {name}")))
    }

    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        _: &Value<'c>,
    ) -> Result<Module<'c>, Thrown> {
        Err(context.throw_plain(format!("no module {name}")))
    }
}

fn settings() -> Settings {
    Settings {
        names: &["status", "body"],
        memory_limit: None,
        loader: Rc::new(NoModules),
    }
}

/// Waits for another turn, then returns a response for this user.
fn get<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let mut waited = false;
    let wait = poll_fn(move |_| match std::mem::replace(&mut waited, true) {
        false => Poll::Pending,
        true => Poll::Ready(()),
    });
    context
        .wait(wait)
        .map_err(|cancelled| context.cancelled(cancelled))?;
    let user: &User = context.host();
    let (id, n) = (u64::from(user.id), user.requests.get() + 1);
    user.requests.set(n);
    let response = context.object()?;
    response.set("status", context.number(200))?;
    let key = (n * 7 + id) % 97;
    let body = format!(r#"{{"id":{id},"n":{n},"k{key}":[1,2,{id}],"s":"u{id}-{n}"}}"#);
    response.set("body", context.string(&body)?)?;
    Ok(response)
}

fn vu<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Ok(context.number(context.host::<User>().id))
}

fn gc<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    // SAFETY: the runtime is live.
    unsafe { sys::JS_RunGC(context.inner().raw.as_ptr()) };
    Ok(context.undefined())
}

fn out<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user: &User = context.host();
    let text = call.argument(0).to_text()?;
    user.said.borrow_mut().push(text.into_string());
    Ok(context.undefined())
}

/// Runs the first part of the init code.
fn init(context: &Context) {
    let global = context.global();
    global
        .define("get", context.function("get", 1, get).unwrap())
        .unwrap();
    global
        .define("vu", context.function("vu", 0, vu).unwrap())
        .unwrap();
    global
        .define("gc", context.function("gc", 0, gc).unwrap())
        .unwrap();
    global
        .define("out", context.function("out", 1, out).unwrap())
        .unwrap();
    eval(context, STATE);
}

/// Runs the rest of the init code, and returns the function of an iteration.
fn rest(context: &Context, program: &str) -> Rc<Persistent> {
    eval(context, program);
    Rc::new(Persistent::new(&context.global().get("iterate").unwrap()))
}

fn eval(context: &Context, text: &str) {
    if let Err(thrown) = context.eval(text, "program.js") {
        panic!("{}", context.take_exception(thrown).text());
    }
    context.run_jobs().unwrap();
}

/// A user's runtime, its state, and the function of an iteration.
type Started = (Runtime, Rc<User>, Rc<Persistent>);

/// Runs `iterations` of each user, which take turns in random order. Returns what each user reported.
fn run(users: &[Started], iterations: u32, seed: u64) -> Vec<Vec<String>> {
    let mut random = Random(seed | 1);
    let mut running: Vec<_> = users.iter().map(|_| (iterations, None)).collect();
    for (runtime, user, _) in users {
        let seed = 1_000_003 * (u64::from(user.id) + 1);
        // SAFETY: the context is live.
        runtime.enter(|context| unsafe { sys::JS_SeedRandom(context.raw(), seed) });
    }
    let mut left = users.len();
    while left > 0 {
        let chosen = random.below(users.len());
        let (runtime, _, function) = &users[chosen];
        let (iterations, fiber) = &mut running[chosen];
        if fiber.is_none() {
            if *iterations == 0 {
                continue;
            }
            *iterations -= 1;
            let function = Rc::clone(function);
            *fiber = Some(
                Fiber::new(runtime, move |context| {
                    let function = function.restore(context);
                    if let Err(thrown) = function.call(&context.undefined(), &[]) {
                        panic!("{}", context.take_exception(thrown).text());
                    }
                    context.run_jobs().unwrap();
                    while context.take_unhandled_rejection().is_some() {}
                })
                .unwrap(),
            );
        }
        let mut task = std::task::Context::from_waker(Waker::noop());
        if Pin::new(fiber.as_mut().unwrap()).poll(&mut task).is_ready() {
            *fiber = None;
            left -= usize::from(*iterations == 0);
        }
    }
    users.iter().map(|(_, user, _)| user.said.take()).collect()
}

fn user(id: usize) -> Rc<User> {
    Rc::new(User {
        id: id as u32,
        ..User::default()
    })
}

/// Users with their own runtimes.
fn apart(program: &str, count: usize) -> Vec<Started> {
    (0..count)
        .map(|id| {
            let user = user(id);
            let runtime = Runtime::new(settings(), Rc::clone(&user)).unwrap();
            let function = runtime.enter_with_stack(1 << 20, |context| {
                init(context);
                rest(context, program)
            });
            (runtime, user, function)
        })
        .collect()
}

/// How the users of an image run.
#[derive(Clone, Copy)]
struct Variant {
    /// Their changes are saved at every wait.
    swaps: bool,
    /// Each of them runs the second part of the init code.
    in_part: bool,
}

/// Users of one image.
fn together(program: &str, count: usize, variant: Variant) -> (Image, Vec<Started>) {
    let origin = Image::begin(settings(), user(usize::MAX)).unwrap();
    let function = origin.enter_with_stack(1 << 20, |context| {
        init(context);
        (!variant.in_part).then(|| rest(context, program))
    });
    let image = Image::freeze(origin).unwrap();
    if variant.swaps {
        image.swap_always();
    }
    let users = (0..count)
        .map(|id| {
            let user = user(id);
            let runtime = image.start(Rc::clone(&user)).unwrap();
            let function = match &function {
                Some(function) => Rc::clone(function),
                None => runtime.enter_with_stack(1 << 20, |context| rest(context, program)),
            };
            (runtime, user, function)
        })
        .collect();
    (image, users)
}

fn compare(seed: u64, count: usize, iterations: u32) {
    let program = program(seed);
    let wanted = run(&apart(&program, count), iterations, seed);
    let variant = Variant {
        swaps: seed.is_multiple_of(2),
        in_part: seed.is_multiple_of(3),
    };
    let (image, users) = together(&program, count, variant);
    let found = run(&users, iterations, seed);
    for (id, (wanted, found)) in wanted.iter().zip(&found).enumerate() {
        let differ = (0..wanted.len()).find(|&line| found.get(line) != Some(&wanted[line]));
        let differ = differ.map(|line| (&wanted[line], found.get(line)));
        assert_eq!(differ, None, "program {seed}, user {id}");
        assert_eq!(wanted.len(), found.len(), "program {seed}, user {id}");
    }
    // Users that are freed leave nothing behind.
    drop(users);
    let user = image.start(user(0)).unwrap();
    let size = user.image_size().unwrap();
    assert_eq!(size.changed_lines, image.size().hot_lines, "{size:?}");
}

/// The number of programs to try, from the variable IMAGE_FUZZ.
#[test]
fn users_of_an_image_say_what_users_of_their_own_runtimes_say() {
    let count = std::env::var("IMAGE_FUZZ").ok();
    let count = count.and_then(|count| count.parse().ok()).unwrap_or(12);
    let from = std::env::var("IMAGE_FUZZ_FROM").ok();
    let from: u64 = from.and_then(|from| from.parse().ok()).unwrap_or(1);
    for seed in from..from + count {
        compare(seed, 6, 60);
    }
}

#[test]
fn many_users_take_turns() {
    compare(1_000, 40, 60);
}
