use std::cell::{RefCell, RefMut};

/// A buffer that the future that is being polled may use during that poll.
#[derive(Debug)]
pub(crate) struct Scratch(RefCell<Box<[u8]>>);

impl Scratch {
    pub(crate) fn new(size: usize) -> Self {
        Scratch(RefCell::new(vec![0; size].into()))
    }

    #[inline]
    pub(crate) fn borrow_mut(&self) -> RefMut<'_, Box<[u8]>> {
        self.0.borrow_mut()
    }
}
