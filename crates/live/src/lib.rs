//! A page that shows a run in progress.
//!
//! ```text
//! run: events ─► Collector ─► queue ─► Hub ─► one queue per viewer ─► a thread per viewer ─► browser
//!               (supervisor's thread)  (own thread; has the history)
//! ```
//!
//! * Nothing here can delay a request. The collector runs on the supervisor's thread. All queues after it are bounded,
//!   and it never waits for them. A viewer that does not read is dropped.
//! * The [`history`] is bounded. When it becomes too long, neighboring points are merged.
//! * The page is one file without references to other hosts. It receives everything as server-sent
//!   events: first the whole history, then a point per second with the current state.
//! * It listens on a loopback address. Any other address requires a token.
//!
//! [`Api`] is k6's REST API, with the same server and the same rules, and [`Client`] calls it.

mod agents;
mod api;
mod api_documents;
mod cells_page;
mod client;
mod collector;
mod display;
mod exposition;
mod history;
mod hub;
mod live_page;
mod measured_system;
mod page;
mod page_title;
mod point;
mod record_view;
mod request;
mod response;
mod server;
mod snapshots;
mod spread;
mod state;
mod status_text;
mod steps;
mod steps_page;
mod system_row;
mod terminal_view;
mod token;
mod web_address;
mod web_request;

pub use api::{Api, SetupData};
pub use cells_page::{CellRuns, CellsPage};
pub use client::{Client, ClientError};
pub use live_page::LivePage;
pub use page_title::PageTitle;
pub use record_view::RecordView;
pub use status_text::status_text;
pub use steps::{Mark, Row, Steps};
pub use steps_page::StepsPage;
pub use terminal_view::TerminalView;
pub use web_address::{API_PORT, WebAddress};
pub use web_request::{PageSources, WebRequest};
