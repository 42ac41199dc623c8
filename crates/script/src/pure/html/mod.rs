//! HTML as a tree, and CSS selectors over it.

mod selector;
mod tree;
mod walk;

pub use selector::Selectors;
pub use tree::{Node, parse};
