//! The Chromium of a run. There is only one.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Mutex;

use crate::{Chromium, Connection, Settings};

/// How long to wait until a Chromium that accepts no connection is found to have ended.
const EXIT_WAIT: Duration = Duration::from_secs(1);

/// The Chromium that all users of a run share. It costs nothing until a user needs it. Dropping this ends it.
#[derive(Debug, Default)]
pub struct Shared(Mutex<Option<Arc<Chromium>>>);

impl Shared {
    /// A connection to the running Chromium. Starts Chromium for the first user, and again if it has ended.
    ///
    /// # Errors
    /// See [`Chromium::start`] and [`Connection::open`].
    pub async fn connect(&self, settings: &Settings) -> Result<Connection, String> {
        let chromium = self.chromium(settings).await?;
        let error = match Connection::open(chromium.endpoint()).await {
            Ok(connection) => return Ok(connection),
            Err(error) => error,
        };
        // It may have ended a moment ago.
        let failed = Instant::now();
        while chromium.is_running() {
            if failed.elapsed() >= EXIT_WAIT {
                return Err(error);
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let chromium = self.chromium(settings).await?;
        Connection::open(chromium.endpoint()).await
    }

    async fn chromium(&self, settings: &Settings) -> Result<Arc<Chromium>, String> {
        let mut shared = self.0.lock().await;
        if let Some(chromium) = &*shared
            && chromium.is_running()
        {
            return Ok(Arc::clone(chromium));
        }
        let chromium = Arc::new(Chromium::start(settings).await?);
        *shared = Some(Arc::clone(&chromium));
        Ok(chromium)
    }
}
