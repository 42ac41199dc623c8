//! The streams of a client that may be open.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use plimsoll_grpc::Channel;

use super::stream::Shared;

#[derive(Default)]
pub struct OpenStreams(RefCell<Vec<Weak<Shared>>>);

impl OpenStreams {
    pub fn add(&self, stream: &Rc<Shared>) {
        let mut streams = self.0.borrow_mut();
        if streams.len() == streams.capacity() {
            // Keeps the list from growing with streams that have ended.
            streams.retain(|stream| stream.strong_count() > 0);
        }
        streams.push(Rc::downgrade(stream));
    }

    /// Ends the streams on this channel.
    pub fn cancel(&self, channel: &Rc<Channel>) {
        for stream in self.0.borrow().iter().filter_map(Weak::upgrade) {
            if Rc::ptr_eq(&stream.channel, channel) {
                stream.cancel();
            }
        }
    }
}
