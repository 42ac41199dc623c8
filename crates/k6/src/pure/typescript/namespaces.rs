//! Turns `namespace N { export const a = 1; }` into code that builds an object in place.

use oxc_ast::ast::*;
use oxc_ast_visit::Visit;
use oxc_span::{GetSpan, Span};

use super::strip::Stripper;

/// Whether a namespace contains only types.
pub(super) fn is_empty(it: &TSNamespaceDeclaration<'_>) -> bool {
    it.declare
        || match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_empty(inner),
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                block.body.iter().all(|statement| match statement {
                    Statement::ExportDeclaration(export) => holds_types(&export.declaration),
                    _ => statement.as_declaration().is_some_and(holds_types),
                })
            }
        }
}

fn holds_types(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_) => true,
        Declaration::TSNamespaceDeclaration(it) => is_empty(it),
        _ => false,
    }
}

impl Stripper<'_> {
    /// `var N = ((N) => { const a = 1; N.a = a; … return N; })(N || {});`
    pub(super) fn make_namespace(&mut self, it: &TSNamespaceDeclaration<'_>) {
        let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body else {
            self.refuse(
                it.span.start,
                "a namespace with a dotted name cannot be run; write one inside the other",
            );
            return;
        };
        let name = it.id.name.as_str();
        self.open_object(name, Span::new(it.span.start, block.span.start + 1));
        for statement in &block.body {
            match statement {
                Statement::ExportDeclaration(export) if !self.is_type_only(&export.declaration) => {
                    let start = export.declaration.span().start;
                    self.edits.blank(Span::new(export.span.start, start));
                    self.visit_declaration(&export.declaration);
                    self.export_from(name, &export.declaration, block.span.start + 1);
                }
                Statement::ExportNamedDeclaration(export) => {
                    self.refuse(
                        export.span.start,
                        "export lists in a namespace cannot be run; write `export` before each \
                         declaration",
                    );
                }
                _ => self.visit_statement(statement),
            }
        }
        self.close_object(name, it.span.end);
    }

    /// Copies the declared names into the namespace's object.
    fn export_from(&mut self, object: &str, declaration: &Declaration<'_>, block_start: u32) {
        let mut put = |name: &str, at: u32| {
            self.edits
                .insert(at, format!("; {object}.{name} = {name};"));
        };
        let end = declaration.span().end;
        match declaration {
            // Functions are hoisted, so earlier code sees them, too.
            Declaration::FunctionDeclaration(it) => {
                if let Some(id) = &it.id {
                    put(&id.name, block_start);
                }
            }
            Declaration::ClassDeclaration(it) => {
                if let Some(id) = &it.id {
                    put(&id.name, end);
                }
            }
            Declaration::TSEnumDeclaration(it) => put(&it.id.name, end),
            Declaration::TSNamespaceDeclaration(it) => put(&it.id.name, end),
            Declaration::TSImportEqualsDeclaration(it) => put(&it.id.name, end),
            Declaration::VariableDeclaration(it) => {
                for declarator in &it.declarations {
                    match &declarator.id {
                        BindingPattern::BindingIdentifier(id) if it.kind.is_const() => {
                            put(&id.name, end);
                        }
                        _ => {
                            let at = declarator.span.start;
                            self.refuse(
                                at,
                                "a namespace can export only `const` with a plain name; use a \
                                 module instead",
                            );
                            return;
                        }
                    }
                }
            }
            _ => {}
        }
    }
}
