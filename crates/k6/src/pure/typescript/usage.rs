//! Finds the names that a program uses and declares as values, and the names that are only types.
//!
//! Compares names without regard to scopes: an import is kept if its name is used as a value anywhere.

use std::collections::HashSet;

use oxc_ast::ast::{
    Class, Function, IdentifierReference, Program, TSClassImplements, TSInterfaceDeclaration,
    TSType, TSTypeAliasDeclaration, TSTypeAnnotation, TSTypeParameterDeclaration,
    TSTypeParameterInstantiation, VariableDeclaration,
};
use oxc_ast_visit::{Visit, walk};
use oxc_syntax::scope::ScopeFlags;

#[derive(Debug, Default)]
pub(super) struct Usage {
    /// Names used in expressions.
    pub values: HashSet<String>,
    /// Interfaces and type aliases.
    pub types: HashSet<String>,
    /// Functions and classes. A namespace with the same name extends them.
    pub callables: HashSet<String>,
}

pub(super) fn of(program: &Program<'_>) -> Usage {
    let mut usage = Usage::default();
    usage.visit_program(program);
    usage
}

impl<'a> Visit<'a> for Usage {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.values.insert(it.name.to_string());
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.body.is_none() {
            return;
        }
        if let Some(id) = &it.id {
            self.callables.insert(id.name.to_string());
        }
        walk::walk_function(self, it, flags);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            return;
        }
        if let Some(id) = &it.id {
            self.callables.insert(id.name.to_string());
        }
        walk::walk_class(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if !it.declare {
            walk::walk_variable_declaration(self, it);
        }
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.types.insert(it.id.name.to_string());
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.types.insert(it.id.name.to_string());
    }

    // Names inside a type are not values.
    fn visit_ts_type(&mut self, _: &TSType<'a>) {}
    fn visit_ts_type_annotation(&mut self, _: &TSTypeAnnotation<'a>) {}
    fn visit_ts_type_parameter_declaration(&mut self, _: &TSTypeParameterDeclaration<'a>) {}
    fn visit_ts_type_parameter_instantiation(&mut self, _: &TSTypeParameterInstantiation<'a>) {}
    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}
}
