//! `k6/browser`: pages in Chromium, driven over the DevTools protocol.
//!
//! The objects for scripts are written in JavaScript, because most of their work is to send messages and to wait for
//! messages. `script/` has one file per concept, and all files share one scope. `page/` contains the code that runs
//! inside pages. Rust starts Chromium, transfers the messages and records samples.
//!
//! Only users that import the module load the script. It is compiled once per process.

mod link;

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::OnceLock;
use std::time::Duration;

use log::Level;
use plimsoll_browser::{Connection, Settings};
use plimsoll_quickjs::{Call, Context, Entry, Persistent, Returned, Thrown, Value};
use plimsoll_samples::{Contains, Kind};

use self::link::Link;
use super::scripted::{Metric, Scripted, sample};
use super::{BuiltIn, Shape, timers};
use crate::metric_context;
use crate::pure::base64::{self, Dialect};
use crate::user::{Phase, User, user};

pub const MODULE: BuiltIn = BuiltIn {
    name: "k6/browser",
    shape: Shape::DefaultObject,
    entries: &[],
    made: NAMES,
    make: Some(make),
};

const NAMES: &[&str] = &["browser", "chromium", "devices", "networkProfiles"];

/// The metrics that the module records.
const METRICS: &[Metric] = &[
    ("browser_data_received", Kind::Counter, Contains::Data),
    ("browser_data_sent", Kind::Counter, Contains::Data),
    ("browser_http_req_duration", Kind::Trend, Contains::Time),
    ("browser_http_req_failed", Kind::Rate, Contains::Default),
    ("browser_web_vital_cls", Kind::Trend, Contains::Default),
    ("browser_web_vital_fcp", Kind::Trend, Contains::Time),
    ("browser_web_vital_fid", Kind::Trend, Contains::Time),
    ("browser_web_vital_inp", Kind::Trend, Contains::Time),
    ("browser_web_vital_lcp", Kind::Trend, Contains::Time),
    ("browser_web_vital_ttfb", Kind::Trend, Contains::Time),
];

/// The script: the body of a function with the argument `native`.
const SCRIPT: &str = concat!(
    "((native) => {\n'use strict';\n",
    include_str!("script/wire.js"),
    include_str!("script/handle.js"),
    include_str!("script/input.js"),
    include_str!("script/frame.js"),
    include_str!("script/locator.js"),
    include_str!("script/network.js"),
    include_str!("script/events.js"),
    include_str!("script/page.js"),
    include_str!("script/navigation.js"),
    include_str!("script/context.js"),
    include_str!("script/devices.js"),
    "return { browser, chromium, devices, networkProfiles };\n})"
);

/// The functions that the script calls.
const NATIVE: &[Entry] = &[
    Entry::function(c"connect", 1, connect),
    Entry::function(c"isConnected", 0, is_connected),
    Entry::function(c"receive", 1, receive),
    Entry::function(c"send", 1, send),
    Entry::function(c"hold", 1, hold),
    Entry::function(c"sample", 3, sample),
    Entry::function(c"bind", 1, |context, call| {
        metric_context::bind(context, &call.argument(0))
    }),
    Entry::function(c"bindsCallbacks", 0, |context, _| {
        Ok(context.bool(user(context).common.keeps_metric_context))
    }),
    Entry::function(c"log", 2, log),
    Entry::function(c"env", 1, env),
    Entry::function(c"writeFile", 2, write_file),
    Entry::function(c"bytesOfBase64", 1, bytes_of_base64),
    Entry::function(c"base64OfBytes", 1, base64_of_bytes),
    Entry::function(c"textOfBytes", 1, text_of_bytes),
    Entry::function(c"codeOfPage", 1, code_of_page),
    Entry::function(c"setTimeout", 2, timers::set_timeout),
    Entry::function(c"clearTimeout", 1, timers::clear),
];

/// The key of the message handler among the user's values.
const RECEIVER: &str = "k6/browser receiver";

/// The module's source.
static SOURCE: Scripted = Scripted {
    name: "k6/browser",
    metrics: METRICS,
    script: SCRIPT,
    native: NATIVE,
    exports: NAMES,
    code: OnceLock::new(),
};

fn make<'c>(context: &'c Context, exports: &Value<'c>) -> Result<(), Thrown> {
    SOURCE.make(context, exports)
}

/// The connection of the current iteration.
fn link(user: &User) -> Option<Rc<Link>> {
    user.event_loop.kept::<Link>()
}

/// `connect(address?)`: connects to the run's Chromium, or to another one if there is an address. Starts the run's
/// Chromium if necessary. Returns the response to `Browser.getVersion`.
fn connect<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user = user(context);
    user.working(context, "using the browser")?;
    let endpoint = match call.argument(0) {
        given if given.is_nullish() => {
            check_type(context, user)?;
            variable("K6_BROWSER_WS_URL")
        }
        given => Some(given.to_text()?.into_string()),
    };
    let settings = settings().map_err(|error| context.throw_plain(error))?;
    let shared = &user.common.browser;
    let opened = context.wait(async {
        let connection = match &endpoint {
            Some(endpoint) => Connection::open(endpoint).await?,
            None => shared.connect(&settings).await?,
        };
        Link::open(connection).await
    });
    let opened = opened.map_err(|cancelled| context.cancelled(cancelled))?;
    let (link, version) = opened.map_err(|error| context.throw_plain(error))?;
    user.event_loop.keep(Rc::new(link));
    context.string(&version)
}

/// Checks that the scenario declares that it uses the browser, as k6 does.
fn check_type(context: &Context, user: &User) -> Result<(), Thrown> {
    let scenario = user.scenario.borrow();
    let Some(scenario) = scenario
        .as_ref()
        .filter(|_| user.phase() == Phase::Iteration)
    else {
        return Ok(());
    };
    let options = scenario.state.scenario.browser.as_ref();
    match options.and_then(|options| options.get("type")?.as_str()) {
        Some("chromium") => Ok(()),
        Some(other) => Err(context.throw_plain(format!(
            "unsupported browser type '{other}' in the scenario's options; the only type is 'chromium'"
        ))),
        None => Err(context.throw_plain(
            "browser not found in registry. make sure to set browser type option in scenario definition in order to \
             use the browser module: options: { browser: { type: 'chromium' } }",
        )),
    }
}

/// An environment variable that is not empty.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// The settings from the environment.
fn settings() -> Result<Settings, String> {
    let mut settings = Settings::default();
    if let Some(path) = variable("K6_BROWSER_EXECUTABLE_PATH") {
        settings.executable = Some(PathBuf::from(path));
    }
    if let Some(text) = variable("K6_BROWSER_HEADLESS") {
        settings.headless = plimsoll_units::boolean::parse(&text)
            .ok_or_else(|| format!("K6_BROWSER_HEADLESS={text}: write true or false"))?;
    }
    if let Some(text) = variable("K6_BROWSER_ARGS") {
        let arguments = text.split(',').map(|argument| argument.trim().to_owned());
        settings.arguments = arguments.filter(|argument| !argument.is_empty()).collect();
    }
    if let Some(text) = variable("K6_BROWSER_TIMEOUT") {
        settings.timeout = plimsoll_units::duration::parse(&text)
            .map_err(|error| format!("K6_BROWSER_TIMEOUT={text}: {error}"))?;
    }
    // With a limit of 0, it would never start.
    if settings.timeout < Duration::from_secs(1) {
        settings.timeout = Settings::default().timeout;
    }
    Ok(settings)
}

fn is_connected<'c>(context: &'c Context, _: &Call<'c>) -> Returned<'c> {
    Ok(context.bool(link(user(context)).is_some_and(|link| link.is_open())))
}

/// `receive(function)`: sets the function that is called with each message. After an error, it is called with null and
/// the error.
fn receive<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let receiver = Persistent::new(&call.argument(0));
    user(context).modules.insert(RECEIVER.to_owned(), receiver);
    Ok(context.undefined())
}

/// `send(message)`
fn send<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let Some(link) = link(user(context)) else {
        return Err(context.throw_plain("the browser is not connected"));
    };
    link.send(&call.argument(0).to_text()?);
    Ok(context.undefined())
}

/// `hold(count)`: increases or decreases the number of messages that the script waits for. While it waits for any, the
/// iteration continues.
fn hold<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let user: &User = user(context);
    if let Some(link) = link(user)
        && link.hold(call.argument(0).to_integer()?)
    {
        let shared = context.shared_host::<User>();
        let driven = link.drive(move |message| {
            shared
                .event_loop
                .tell(move |context| deliver(context, message));
        });
        user.event_loop.run(driven);
    }
    Ok(context.undefined())
}

/// Passes a message to the script.
fn deliver(context: &Context, message: Result<String, String>) -> Result<(), Thrown> {
    let user = user(context);
    if let Some(link) = link(user) {
        link.processed();
    }
    let Some(receiver) = user.modules.get(RECEIVER) else {
        return Ok(());
    };
    let (message, error) = match &message {
        Ok(message) => (context.string(message)?, context.undefined()),
        Err(error) => (context.null(), context.string(error)?),
    };
    let receiver = receiver.restore(context);
    receiver
        .call(&context.undefined(), &[&message, &error])
        .map(drop)
}

/// `log(level, text)`
fn log<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let level = match &*call.argument(0).to_text()? {
        "debug" => Level::Debug,
        "info" => Level::Info,
        "error" => Level::Error,
        _ => Level::Warn,
    };
    let text = call.argument(1).to_text()?;
    user(context).log_with(level, &text, &[("source", "browser")]);
    Ok(context.undefined())
}

/// `env(name)`: an environment variable, or undefined.
fn env<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    match std::env::var(&*call.argument(0).to_text()?) {
        Ok(value) => context.string(&value),
        Err(_) => Ok(context.undefined()),
    }
}

/// `writeFile(path, bytes)`
fn write_file<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let path = PathBuf::from(call.argument(0).to_text()?.into_string());
    let bytes = call.argument(1).to_bytes().unwrap_or_default();
    let written = match path.parent() {
        Some(folder) => std::fs::create_dir_all(folder),
        None => Ok(()),
    };
    written
        .and_then(|()| std::fs::write(&path, bytes))
        .map_err(|error| {
            context.throw_plain(format!("cannot write {}: {error}", path.display()))
        })?;
    Ok(context.undefined())
}

fn bytes_of_base64<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let text = call.argument(0).to_text()?;
    let bytes = base64::decode(text.as_bytes(), Dialect::STD)
        .map_err(|error| context.throw_plain(error.to_string()))?;
    context.array_buffer(&bytes)
}

/// `base64OfBytes(textOrBytes)`
fn base64_of_bytes<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let given = call.argument(0);
    let bytes = match given.to_bytes() {
        Some(bytes) => bytes,
        None => given.to_text()?.as_bytes().to_vec(),
    };
    context.string(&base64::encode(&bytes, Dialect::STD))
}

fn text_of_bytes<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    context.string_lossy(&call.argument(0).to_bytes().unwrap_or_default())
}

/// `codeOfPage(name)`: code that runs inside pages.
fn code_of_page<'c>(context: &'c Context, call: &Call<'c>) -> Returned<'c> {
    let code = match &*call.argument(0).to_text()? {
        "vitals" => include_str!("page/vitals.js"),
        _ => concat!(
            "(() => {\n'use strict';\n",
            include_str!("page/text.js"),
            include_str!("page/roles.js"),
            include_str!("page/select.js"),
            include_str!("page/press.js"),
            include_str!("page/act.js"),
            "return helper;\n})()"
        ),
    };
    context.string(code)
}
