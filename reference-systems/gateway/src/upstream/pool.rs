//! Idle connections of one worker to one target, the most recently used first.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::Connection;

/// Only its worker uses it, so the lock never blocks.
pub struct Pool {
    idle: Mutex<VecDeque<Box<Connection>>>,
    most: usize,
}

impl Pool {
    /// A pool with at most this number of connections.
    pub fn new(most: usize) -> Pool {
        Pool {
            idle: Mutex::default(),
            most,
        }
    }

    /// The most recently used connection that is still open.
    pub fn take(&self) -> Option<Box<Connection>> {
        loop {
            let mut connection = self.lock().pop_back()?;
            if connection.is_open() {
                return Some(connection);
            }
        }
    }

    pub fn put(&self, mut connection: Box<Connection>) {
        connection.rest();
        let mut idle = self.lock();
        if idle.len() < self.most {
            idle.push_back(connection);
        }
    }

    /// Removes connections that are closed or have stayed for this many sweeps.
    pub fn sweep(&self, sweeps: u32) {
        self.lock()
            .retain_mut(|connection| connection.grow_older() < sweeps && connection.is_open());
    }

    pub fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Box<Connection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
