//! Measures the cost of a waiting user, with its own runtime or as a user of an image.
//!
//! `cargo run --release -p plimsoll-quickjs --example users -- own|image small|large|library USERS RESUMES`
//!
//! Each user calls a host function that waits, in an endless loop. A resume is one turn of a user, from one wait to the
//! next.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Poll, Waker};

use plimsoll_quickjs::{
    Bytecode, Call, Context, Fiber, Image, Loader, Module, Persistent, Returned, Runtime, Settings,
    SourceText, Thrown, Value,
};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const SMALL: &str = "globalThis.iterate = () => { const r = get('x'); check(r, {'is 200': (r) => r.status === 200}); };";

const LARGE: &str = "
const users = [];
for (let i = 0; i < 50; i++) users.push({name: 'user' + i, pass: 'p' + i, id: i});
class Client {
  constructor(base) { this.base = base; this.n = 0; }
  login(user) {
    this.n++;
    const r = get(this.base + '/login?u=' + encodeURIComponent(user.name));
    check(r, {'login 200': (r) => r.status === 200, 'has token': (r) => JSON.parse(r.body).token.length > 0});
    return JSON.parse(r.body).token;
  }
  order(token, k) {
    const items = [1, 2, 3].map((x) => ({sku: 's' + x, quantity: x * k}));
    const payload = JSON.stringify({token, items, when: '2026'});
    const headers = {'Content-Type': 'application/json', Authorization: `Bearer ${token}`};
    const r = get(this.base + '/order', payload, {headers, tags: {name: 'order'}});
    check(r, {'order 200': (r) => r.status === 200});
    return JSON.parse(r.body);
  }
}
let turn = 0;
const client = new Client('http://127.0.0.1:8080');
globalThis.iterate = () => {
  const token = client.login(users[turn++ % users.length]);
  for (let k = 0; k < 5; k++) {
    const order = client.order(token, k);
    if (order.items.reduce((a, b) => a + b, 0) !== 6) throw new Error('bad');
  }
};";

fn library() -> String {
    (0..2800)
        .map(|n| {
            format!(
                "export function f{n}(a, b) {{ const o = {{x: a, y: b, k{n}: 'v{n}'}}; if (a > b) return o.x + {n}; \
                 for (let j = 0; j < 3; j++) o.y += j * {n}; return `${{o.k{n}}}-${{o.y}}`; }}\n"
            )
        })
        .collect()
}

struct Modules(Vec<(&'static str, Bytecode)>);

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
        match self.0.iter().find(|(known, _)| *known == name) {
            Some((_, code)) => Module::load(context, code),
            None => Err(context.throw_plain(format!("no module {name}"))),
        }
    }

    fn code(&self) -> Vec<Bytecode> {
        self.0.iter().map(|(_, code)| code.clone()).collect()
    }
}

fn settings(loader: Rc<dyn Loader>) -> Settings {
    Settings {
        names: &["status", "body"],
        memory_limit: None,
        loader,
    }
}

fn get<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    let mut waited = false;
    let wait = poll_fn(move |_| match std::mem::replace(&mut waited, true) {
        false => Poll::Pending,
        true => Poll::Ready(()),
    });
    context
        .wait(wait)
        .map_err(|cancelled| context.cancelled(cancelled))?;
    let response = context.object()?;
    response.set("status", context.number(200))?;
    let body = r#"{"id":1,"name":"abc","items":[1,2,3],"token":"0123456789abcdef"}"#;
    response.set("body", context.string(body)?)?;
    Ok(response)
}

fn check<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    for (_, test) in call.argument(1).entries()? {
        test.call(&context.undefined(), &[&call.argument(0)])?;
    }
    Ok(context.bool(true))
}

fn text(context: &Context, thrown: Thrown) -> String {
    context.take_exception(thrown).text()
}

/// Runs the init code and returns the function of an iteration.
fn init(context: &Context, loader: &dyn Loader) -> Result<Persistent, String> {
    let run = || {
        let global = context.global();
        global.define("get", context.function("get", 1, get)?)?;
        global.define("check", context.function("check", 2, check)?)?;
        let module = loader.load(context, "script", &context.undefined())?;
        module.evaluate()?;
        context.run_jobs()?;
        Ok(Persistent::new(&global.get("iterate")?))
    };
    run().map_err(|thrown| text(context, thrown))
}

/// Resident memory in bytes.
fn resident() -> Result<f64, Box<dyn Error>> {
    let statm = std::fs::read_to_string("/proc/self/statm")?;
    let pages = statm.split(' ').nth(1).ok_or("no resident memory")?;
    Ok(pages.parse::<f64>()? * 4096.0)
}

/// Processor time of this thread in nanoseconds.
fn processor_time() -> Result<f64, Box<dyn Error>> {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let used = times.split(' ').next().ok_or("no processor time")?;
    Ok(used.parse()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<_> = std::env::args().collect();
    let [_, mode, script, users, resumes] = &arguments[..] else {
        return Err("users own|image small|large|library USERS RESUMES".into());
    };
    let (count, resumes): (usize, usize) = (users.parse()?, resumes.parse()?);
    let mut sources = vec![];
    let script = match &**script {
        "small" => SMALL.to_owned(),
        "large" => LARGE.to_owned(),
        "library" => {
            sources.push(("library", library()));
            format!("import * as library from 'library'; {LARGE}")
        }
        other => return Err(format!("unknown script {other}").into()),
    };
    sources.push(("script", script));
    // Another thread compiles, because the first runtime of a thread decides what is shared.
    let compiled = std::thread::spawn(move || {
        let compile = |(name, source): (&'static str, String)| {
            let loader = Rc::new(Modules(vec![]));
            let runtime = Runtime::new(settings(loader), Rc::new(())).map_err(|e| e.to_string())?;
            runtime.enter_with_stack(1 << 20, |context| {
                let module = Module::compile(context, &source, name, SourceText::Dropped);
                let (_, code) = module.map_err(|thrown| text(context, thrown))?;
                Ok((name, code))
            })
        };
        sources
            .into_iter()
            .map(compile)
            .collect::<Result<Vec<_>, String>>()
    });
    let modules = compiled.join().map_err(|_| "compiling failed")??;
    let loader: Rc<dyn Loader> = Rc::new(Modules(modules));
    let start = |image: Option<&(Image, Rc<Persistent>)>| -> Result<_, Box<dyn Error>> {
        let (runtime, function) = match image {
            Some((image, function)) => (image.start(Rc::new(()))?, Rc::clone(function)),
            None => {
                let runtime = Runtime::new(settings(Rc::clone(&loader)), Rc::new(()))?;
                let function = runtime.enter(|context| init(context, &*loader))?;
                (runtime, Rc::new(function))
            }
        };
        let fiber = Fiber::new(&runtime, move |context| {
            let function = function.restore(context);
            while function.call(&context.undefined(), &[]).is_ok() {}
        })?;
        Ok((runtime, fiber))
    };
    let image = match &**mode {
        "own" => {
            // The thread's shared parts belong to no user.
            drop(start(None)?);
            None
        }
        "image" => {
            let origin = Image::begin(settings(Rc::clone(&loader)), Rc::new(()))?;
            let function = Rc::new(origin.enter(|context| init(context, &*loader))?);
            Some((Image::freeze(origin)?, function))
        }
        other => return Err(format!("unknown mode {other}").into()),
    };
    let mut task = std::task::Context::from_waker(Waker::noop());
    let before = resident()?;
    let began = processor_time()?;
    let mut users = vec![];
    for _ in 0..count {
        users.push(start(image.as_ref())?);
    }
    let created = processor_time()? - began;
    for _ in 0..20 {
        for (_, fiber) in &mut users {
            let _ = Pin::new(fiber).poll(&mut task);
        }
    }
    let memory = (resident()? - before) / count as f64 / 1024.0;
    let rounds = (resumes / count).max(3);
    let mut best = f64::INFINITY;
    for _ in 0..5 {
        let began = processor_time()?;
        for _ in 0..rounds {
            for (_, fiber) in &mut users {
                let _ = Pin::new(fiber).poll(&mut task);
            }
        }
        best = best.min((processor_time()? - began) / (rounds * count) as f64);
    }
    let creation = created / count as f64 / 1000.0;
    print!(
        "{mode} {count} users: {memory:.1} KiB each, created in {creation:.1} µs, {best:.0} ns per resume"
    );
    if let (Some((image, _)), Some((runtime, _))) = (&image, users.first()) {
        let size = image.size();
        print!(
            "; image {} KiB, {} pages written",
            size.image / 1024,
            size.written_pages
        );
        if let Some(user) = runtime.image_size() {
            print!(
                "; made {} B, changed {} B in {} lines",
                user.made, user.changed, user.changed_lines
            );
        }
    }
    println!();
    // Ending thousands of suspended scripts says nothing.
    std::process::exit(0);
}
