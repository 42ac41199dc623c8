//! HTML trees and CSS selectors.

mod selector;
mod tree;
mod walk;

pub use selector::Selectors;
#[cfg(debug_assertions)]
pub use tree::DROPPED_WHILE_UNWINDING;
pub use tree::{Node, parse};
