//! A lab's result as a document.
