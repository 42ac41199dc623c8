//! Errors with names of their own, as WebCrypto and `k6/experimental/fs` have them.

use crate::quickjs::{Context, ErrorKind, Thrown, Value};

/// An error whose `name` is its own, such as `OperationError`.
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

    /// The algorithm is not known, or cannot do that.
    pub fn not_supported(message: impl Into<String>) -> Fault {
        Fault::new("NotSupportedError", message)
    }

    /// The key is not for this.
    pub fn access(message: impl Into<String>) -> Fault {
        Fault::new("InvalidAccessError", message)
    }

    /// What WebCrypto leaves to the operation.
    pub fn operation(message: impl Into<String>) -> Fault {
        Fault::new("OperationError", message)
    }

    /// The key's data is not what its format says.
    pub fn data(message: impl Into<String>) -> Fault {
        Fault::new("DataError", message)
    }

    /// The usages do not go with the key.
    pub fn usages(message: impl Into<String>) -> Fault {
        Fault::new("SyntaxError", message)
    }

    fn value<'c>(&self, context: &'c Context) -> Result<Value<'c>, Thrown> {
        let error = context.error(ErrorKind::Plain, &self.message)?;
        error.define_hidden("name", context.string(self.name)?)?;
        Ok(error)
    }

    /// Raises it.
    pub fn throw(&self, context: &Context) -> Thrown {
        match self.value(context) {
            Ok(error) => context.throw(error),
            Err(thrown) => thrown,
        }
    }
}

/// Turns a fault into a pending exception, so that it travels by `?`.
pub trait OrThrow<T> {
    fn or_throw(self, context: &Context) -> Result<T, Thrown>;
}

impl<T> OrThrow<T> for Result<T, Fault> {
    fn or_throw(self, context: &Context) -> Result<T, Thrown> {
        self.map_err(|fault| fault.throw(context))
    }
}
