//! Exceptions: throwing them from Rust, taking them from the engine, and reading their stack.

use std::fmt;

use crate::{Context, Value, sys};

/// Proof that an exception is pending in the context. Host functions return it as their error.
#[derive(Debug)]
#[must_use = "an exception is pending: return it, or take it with `Context::take_exception`"]
pub struct Thrown(());

impl Thrown {
    /// Use this only where the engine has just reported an exception.
    #[inline]
    pub(super) fn pending() -> Self {
        Self(())
    }
}

/// The constructors of errors that Rust code throws.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    Plain,
    Type,
    Range,
    Reference,
    Syntax,
    Internal,
}

/// An exception taken from the engine.
pub struct Exception<'c>(pub Value<'c>);

/// One line of a stack: the function's name (empty if it has none) and its location, `file:line:column` or
/// `native`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub function: String,
    pub place: String,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.function.is_empty() {
            f.write_str(&self.place)
        } else {
            write!(f, "{} ({})", self.function, self.place)
        }
    }
}

impl Context {
    /// Throws `value`.
    pub fn throw(&self, value: Value<'_>) -> Thrown {
        // SAFETY: the engine takes over `value`.
        unsafe { sys::JS_Throw(self.raw(), value.into_raw()) };
        Thrown::pending()
    }

    /// Throws a new error with the current stack.
    pub fn throw_error(&self, kind: ErrorKind, message: &str) -> Thrown {
        match self.error(kind, message) {
            Ok(error) => self.throw(error),
            Err(thrown) => thrown,
        }
    }

    /// Throws an error like those of k6's own functions: an `Error` named `GoError`. Scripts may check the name.
    pub fn throw_plain(&self, message: impl AsRef<str>) -> Thrown {
        let named = || {
            let error = self.error(ErrorKind::Plain, message.as_ref())?;
            error.define_hidden("name", self.string("GoError")?)?;
            Ok(error)
        };
        match named() {
            Ok(error) => self.throw(error),
            Err(thrown) => thrown,
        }
    }

    /// Throws a `TypeError`.
    pub fn throw_type(&self, message: impl AsRef<str>) -> Thrown {
        self.throw_error(ErrorKind::Type, message.as_ref())
    }

    /// A new error object with the current stack.
    pub fn error(&self, kind: ErrorKind, message: &str) -> Result<Value<'_>, Thrown> {
        // The message is set afterwards, because the engine's own formatting truncates messages at 256 bytes.
        let empty = c"%s".as_ptr();
        let nothing = c"".as_ptr();
        let raw = self.raw();
        // SAFETY: the format takes one string, and one is passed.
        let error = unsafe {
            let made = match kind {
                ErrorKind::Plain => sys::JS_NewPlainError(raw, empty, nothing),
                ErrorKind::Type => sys::JS_NewTypeError(raw, empty, nothing),
                ErrorKind::Range => sys::JS_NewRangeError(raw, empty, nothing),
                ErrorKind::Reference => sys::JS_NewReferenceError(raw, empty, nothing),
                ErrorKind::Syntax => sys::JS_NewSyntaxError(raw, empty, nothing),
                ErrorKind::Internal => sys::JS_NewInternalError(raw, empty, nothing),
            };
            Value::checked(self, made)?
        };
        error.define_hidden("message", self.string(message)?)?;
        Ok(error)
    }

    /// Throws an error that scripts cannot catch: `catch` and `finally` blocks do not run.
    pub fn throw_uncatchable(&self, message: &str) -> Thrown {
        match self.error(ErrorKind::Internal, message) {
            Ok(error) => {
                // SAFETY: the value is a live error object.
                unsafe { sys::JS_SetUncatchableError(self.raw(), error.raw()) };
                self.throw(error)
            }
            Err(thrown) => thrown,
        }
    }

    /// Takes the pending exception.
    pub fn take_exception(&self, thrown: Thrown) -> Exception<'_> {
        let Thrown(()) = thrown;
        // SAFETY: the context is live; the reference now belongs to the caller.
        Exception(unsafe { Value::from_raw(self, sys::JS_GetException(self.raw())) })
    }
}

impl<'c> Exception<'c> {
    /// Whether this error interrupts the script: the script was interrupted, or a wait was cancelled.
    pub fn is_uncatchable(&self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::JS_IsUncatchableError(self.0.raw()) }
    }

    /// The result of `String(exception)`: `Error: message` for errors.
    pub fn text(&self) -> String {
        let context = self.0.context();
        // While a script is being interrupted, the engine's own loops return early, so `String` may lose a part.
        if self.is_uncatchable() {
            match self.0.get("message").and_then(|message| message.to_text()) {
                Ok(message) => return format!("InternalError: {}", message.into_string()),
                Err(thrown) => drop(context.take_exception(thrown)),
            }
        }
        match self.0.to_text() {
            Ok(text) => text.into_string(),
            Err(thrown) => {
                drop(context.take_exception(thrown));
                "an exception that cannot be shown as text".to_owned()
            }
        }
    }

    /// The stack at the time the error was created, innermost frame first. Empty if this is not an error.
    pub fn frames(&self) -> Vec<Frame> {
        let context = self.0.context();
        let stack = match self.0.get("stack") {
            Ok(stack) if stack.is_string() => stack,
            Ok(_) => return Vec::new(),
            Err(thrown) => {
                drop(context.take_exception(thrown));
                return Vec::new();
            }
        };
        match stack.to_text() {
            Ok(text) => text.lines().filter_map(parse_frame).collect(),
            Err(thrown) => {
                drop(context.take_exception(thrown));
                Vec::new()
            }
        }
    }

    /// Throws the exception again.
    pub fn rethrow(self) -> Thrown {
        let context = self.0.context();
        context.throw(self.0)
    }
}

/// Parses `at name (location)` or `at location`.
fn parse_frame(line: &str) -> Option<Frame> {
    let line = line.trim().strip_prefix("at ")?;
    let frame = match line
        .strip_suffix(')')
        .and_then(|line| line.rsplit_once(" ("))
    {
        Some((function, place)) => {
            let function = if function == "<anonymous>" {
                ""
            } else {
                function
            };
            Frame {
                function: function.to_owned(),
                place: place.to_owned(),
            }
        }
        None => Frame {
            function: String::new(),
            place: line.to_owned(),
        },
    };
    Some(frame)
}
