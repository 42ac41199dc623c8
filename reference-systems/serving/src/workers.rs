//! The worker threads: each has its own event loop, and a connection stays on its worker.

use std::io;
use std::num::NonZero;
use std::thread::{self, JoinHandle};

use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;

/// Running workers. [`Workers::stop`] ends them.
pub struct Workers {
    handles: Vec<Handle>,
    threads: Vec<(oneshot::Sender<()>, JoinHandle<()>)>,
}

/// The default number of workers: one per processor that this process may use.
pub fn default_count() -> NonZero<usize> {
    thread::available_parallelism().unwrap_or(NonZero::<usize>::MIN)
}

impl Workers {
    /// Starts `count` workers. The first is the calling thread's own event loop, which must be
    /// running. So with one worker, no data crosses threads.
    pub fn start(count: NonZero<usize>) -> io::Result<Workers> {
        let mut workers = Workers {
            handles: vec![Handle::current()],
            threads: Vec::new(),
        };
        for index in 1..count.get() {
            let runtime = Builder::new_current_thread().enable_all().build()?;
            workers.handles.push(runtime.handle().clone());
            let (stop, stopped) = oneshot::channel::<()>();
            let thread = thread::Builder::new()
                .name(format!("worker-{index}"))
                .spawn(move || {
                    // Dropping the sender stops it as well.
                    let _ = runtime.block_on(stopped);
                })?;
            workers.threads.push((stop, thread));
        }
        Ok(workers)
    }

    /// Number of workers.
    pub fn count(&self) -> usize {
        self.handles.len()
    }

    /// The event loops, in order.
    pub fn handles(&self) -> &[Handle] {
        &self.handles
    }

    /// Ends the other threads; tasks that still run there are dropped.
    pub fn stop(self) {
        for (stop, thread) in self.threads {
            drop(stop);
            // A worker that panicked has already printed its message to stderr.
            let _ = thread.join();
        }
    }
}
