//! Converts TypeScript to JavaScript by blanking out the types, and detects the module kind of a
//! source.
//!
//! TypeScript's additions are overwritten with spaces. So all lines and columns stay the same, and error positions need
//! no source map. The few constructs that need code (enums, namespaces, parameter properties) get it on their own
//! lines. Nothing is type-checked: a program with type errors runs.

mod deep_stack;
mod edits;
mod enums;
mod imports;
mod kind;
mod namespaces;
mod strip;
mod usage;

use std::fmt;

use oxc_allocator::Allocator;
use oxc_ast_visit::Visit;
use oxc_parser::Parser;
use oxc_span::SourceType;

use deep_stack::on_deep_stack;
pub use imports::{Imports, imports};
pub use kind::is_esm;

/// Why a source could not be converted to JavaScript, with the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeScriptError {
    /// From 1.
    pub line: usize,
    /// In characters, from 1.
    pub column: usize,
    pub message: String,
}

impl fmt::Display for TypeScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "line {}, column {}: {}",
            self.line, self.column, self.message
        )
    }
}

impl std::error::Error for TypeScriptError {}

impl TypeScriptError {
    fn at(source: &str, offset: u32, message: impl Into<String>) -> TypeScriptError {
        let before = source.get(..offset as usize).unwrap_or(source);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        TypeScriptError {
            line: 1 + before.matches('\n').count(),
            column: 1 + before[line_start..].chars().count(),
            message: message.into(),
        }
    }
}

/// The JavaScript of a TypeScript module.
///
/// Imports that are never used as values are dropped together with the types, as TypeScript compilers do.
///
/// # Errors
/// The first syntax error, or the first construct that has no equivalent in JavaScript (decorators,
/// `import x = require(…)`, `export =`, …), with an alternative.
pub fn strip(source: &str) -> Result<String, TypeScriptError> {
    on_deep_stack(source, || strip_here(source))
}

fn strip_here(source: &str) -> Result<String, TypeScriptError> {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::ts()).parse();
    if let Some(error) = parsed.diagnostics.errors().next() {
        let offset = error.labels.iter().next().map_or(0, |label| label.offset());
        return Err(TypeScriptError::at(
            source,
            offset,
            error.message.to_string(),
        ));
    }
    let usage = usage::of(&parsed.program);
    let mut stripper = strip::Stripper::new(source, usage);
    stripper.visit_program(&parsed.program);
    stripper.finish()
}

#[cfg(test)]
mod tests;
