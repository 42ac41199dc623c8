//! HTML trees and CSS selectors.

mod selector;
mod tree;
mod walk;

pub use selector::Selectors;
pub use tree::{Node, parse};
