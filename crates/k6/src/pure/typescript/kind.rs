//! Distinguishes ECMAScript modules from CommonJS.

use oxc_allocator::Allocator;
use oxc_ast::ast::{
    ArrowFunctionExpression, AwaitExpression, ForOfStatement, Function, PropertyDefinition,
    StaticBlock,
};
use oxc_ast_visit::{Visit, walk};
use oxc_parser::Parser;
use oxc_span::SourceType;
use oxc_syntax::scope::ScopeFlags;

use super::deep_stack::on_deep_stack;

/// Whether a JavaScript source is an ECMAScript module: it imports, exports, or awaits outside of functions. Everything
/// else is CommonJS, including sources that cannot be parsed.
pub fn is_esm(source: &str) -> bool {
    on_deep_stack(source, || is_esm_here(source))
}

fn is_esm_here(source: &str) -> bool {
    let allocator = Allocator::default();
    let parsed = Parser::new(&allocator, source, SourceType::mjs()).parse();
    if parsed.module_record.has_module_syntax {
        return true;
    }
    if parsed.panicked || parsed.diagnostics.has_errors() {
        return false;
    }
    let mut search = TopLevelAwait { found: false };
    search.visit_program(&parsed.program);
    search.found
}

struct TopLevelAwait {
    found: bool,
}

impl<'a> Visit<'a> for TopLevelAwait {
    fn visit_await_expression(&mut self, _: &AwaitExpression<'a>) {
        self.found = true;
    }

    fn visit_for_of_statement(&mut self, it: &ForOfStatement<'a>) {
        self.found |= it.r#await;
        walk::walk_for_of_statement(self, it);
    }

    // An await in a function belongs to that function.
    fn visit_function(&mut self, _: &Function<'a>, _: ScopeFlags) {}
    fn visit_arrow_function_expression(&mut self, _: &ArrowFunctionExpression<'a>) {}
    fn visit_property_definition(&mut self, _: &PropertyDefinition<'a>) {}
    fn visit_static_block(&mut self, _: &StaticBlock<'a>) {}
}
