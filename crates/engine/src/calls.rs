//! Calls of `setup` and `teardown` from outside the run, in addition to the run's own calls.

use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};

use tokio::task::JoinHandle;

use crate::{AbortReason, Step, Stop, UserFactory, Worker};

/// Calls the steps of a run from any thread.
#[derive(Clone)]
pub struct Calls(Arc<dyn Fn(Call) + Send + Sync>);

/// A requested call.
pub(crate) struct Call {
    step: Step,
    result: Sender<Result<(), AbortReason>>,
}

impl Calls {
    /// Calls that are requested with this function. The function drops a call if the run has ended.
    pub(crate) fn by(request: impl Fn(Call) + Send + Sync + 'static) -> Calls {
        Calls(Arc::new(request))
    }

    /// Calls a step on a worker of the run and waits for its result. `None` if the run ends first.
    pub fn call(&self, step: Step) -> Option<Result<(), AbortReason>> {
        let (result, received) = channel();
        (self.0)(Call { step, result });
        // If the run drops the call, it also drops the sender, and this returns an error.
        received.recv().ok()
    }
}

/// The calls in progress on one worker.
#[derive(Default)]
pub(crate) struct OpenCalls(Vec<(Stop, JoinHandle<()>)>);

impl OpenCalls {
    /// Starts a call as a separate task.
    pub fn start<F: UserFactory>(&mut self, factory: &Arc<F>, worker: &Worker, call: Call) {
        self.0.retain(|(_, task)| !task.is_finished());
        let stop = Stop::new();
        let (factory, worker, own) = (Arc::clone(factory), worker.clone(), stop.clone());
        let task = tokio::task::spawn_local(async move {
            own.adopt_task().await;
            let ended = factory.call(call.step, &worker, &own).await;
            // The caller may no longer wait.
            let _ = call.result.send(ended);
        });
        self.0.push((stop, task));
    }

    pub fn interrupt(&self) {
        for (stop, _) in &self.0 {
            stop.trip();
        }
    }

    /// Interrupts all calls and waits until they have ended.
    pub async fn end(self) {
        self.interrupt();
        for (_, task) in self.0 {
            let _ = task.await;
        }
    }
}
