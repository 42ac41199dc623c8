//! Errors with their own names, as WebCrypto and `k6/experimental/fs` define them.

use plimsoll_quickjs::{Context, ErrorKind, Thrown, Value};

/// An error with its own `name`, such as `OperationError`.
#[derive(Debug)]
pub struct Fault {
    name: &'static str,
    message: String,
}

impl Fault {
    pub fn new(name: &'static str, message: impl Into<String>) -> Fault {
        Fault {
            name,
            message: message.into(),
        }
    }

    /// The algorithm is unknown or does not support the operation.
    pub fn not_supported(message: impl Into<String>) -> Fault {
        Fault::new("NotSupportedError", message)
    }

    /// The key does not allow this use.
    pub fn access(message: impl Into<String>) -> Fault {
        Fault::new("InvalidAccessError", message)
    }

    /// An operation-specific error, as defined by WebCrypto.
    pub fn operation(message: impl Into<String>) -> Fault {
        Fault::new("OperationError", message)
    }

    /// The key's data does not match its format.
    pub fn data(message: impl Into<String>) -> Fault {
        Fault::new("DataError", message)
    }

    /// The usages do not fit the key.
    pub fn usages(message: impl Into<String>) -> Fault {
        Fault::new("SyntaxError", message)
    }

    fn value<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        let error = context.error(ErrorKind::Plain, &self.message)?;
        error.define_hidden("name", context.string(self.name)?)?;
        Ok(error)
    }

    /// Throws the error in the script.
    pub fn throw(&self, context: &Context) -> Thrown {
        match self.value(context) {
            Ok(error) => context.throw(error),
            Err(thrown) => thrown,
        }
    }
}

/// Turns a fault into a pending exception, so that `?` can pass it on.
pub trait OrThrow<T> {
    fn or_throw(self, context: &Context) -> Result<T, Thrown>;
}

impl<T> OrThrow<T> for Result<T, Fault> {
    fn or_throw(self, context: &Context) -> Result<T, Thrown> {
        self.map_err(|fault| fault.throw(context))
    }
}
