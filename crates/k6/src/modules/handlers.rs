//! The handlers that a script adds with `on(event, handler)`, and the argument of error handlers.

use std::cell::RefCell;

use plimsoll_quickjs::{Call, Class, Context, Entry, InImage, Slot, Thrown, Value};

/// Handlers by event, in the order in which they were added.
#[derive(Default)]
pub struct Handlers(RefCell<Vec<(String, Slot)>>);

impl Handlers {
    /// Adds the handler of a call of `on`. Handlers that are not functions are ignored.
    ///
    /// # Errors
    /// An exception thrown while the event is converted to a string.
    pub fn add(&self, call: &Call<'_>) -> Result<(), Thrown> {
        let event = call.argument(0).to_text()?.into_string();
        let handler = call.argument(1);
        if handler.is_function() {
            let slot = Slot::empty();
            slot.set(handler.clone());
            self.0.borrow_mut().push((event, slot));
        }
        Ok(())
    }

    /// The number of handlers of all events.
    pub fn count(&self) -> usize {
        self.0.borrow().len()
    }

    pub fn has(&self, event: &str) -> bool {
        self.0.borrow().iter().any(|(name, _)| name == event)
    }

    /// Calls the handlers of `event` among the first `limit` handlers. A handler that is added meanwhile is not among
    /// them.
    ///
    /// # Errors
    /// The first exception of a handler.
    pub fn emit<'c>(
        &self,
        context: &'c Context,
        event: &str,
        arguments: &[&Value<'c>],
        limit: usize,
    ) -> Result<(), Thrown> {
        let mut place = 0;
        loop {
            let handler = {
                let handlers = self.0.borrow();
                let rest = handlers.iter().enumerate().take(limit).skip(place);
                let Some((at, (_, handler))) =
                    rest.into_iter().find(|(_, (name, _))| name == event)
                else {
                    return Ok(());
                };
                place = at + 1;
                handler.get(context)
            };
            if let Some(handler) = handler {
                handler.call(&context.undefined(), arguments)?;
            }
        }
    }

    /// Shows the handlers to the garbage collector.
    pub fn trace(&self, see: &mut dyn FnMut(&Slot)) {
        self.0.borrow().iter().for_each(|(_, slot)| see(slot));
    }
}

/// The argument of `error` handlers. `error()` returns the message.
pub struct EventError(pub String);

impl Class for EventError {
    const IN_IMAGE: InImage<Self> = InImage::Shared;

    fn prototype() -> &'static [Entry] {
        static ENTRIES: &[Entry] = &[Entry::function(c"error", 0, |context, call| {
            let this = call.this();
            match this.instance::<EventError>() {
                Some(error) => context.string(&error.0),
                None => Err(context.throw_type("not an error of a connection")),
            }
        })];
        ENTRIES
    }
}
