//! Walks a program and marks TypeScript's additions for removal.

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};

use super::TypeScriptError;
use super::edits::{Edits, is_newline};
use super::usage::Usage;

pub(super) struct Stripper<'s> {
    pub source: &'s str,
    pub usage: Usage,
    pub edits: Edits,
    error: Option<TypeScriptError>,
}

impl<'s> Stripper<'s> {
    pub fn new(source: &'s str, usage: Usage) -> Stripper<'s> {
        Stripper {
            source,
            usage,
            edits: Edits::default(),
            error: None,
        }
    }

    pub fn finish(self) -> Result<String, TypeScriptError> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.edits.apply(self.source)),
        }
    }

    /// Records an unsupported construct. The first one becomes the error.
    pub fn refuse(&mut self, at: u32, message: &str) {
        self.error
            .get_or_insert_with(|| TypeScriptError::at(self.source, at, message));
    }

    pub fn text(&self, span: Span) -> &'s str {
        self.source
            .get(span.start as usize..span.end as usize)
            .unwrap_or_default()
    }

    /// The start of the next token after whitespace and comments.
    pub fn next_token(&self, from: u32) -> u32 {
        let mut at = from as usize;
        loop {
            let rest = self.source.get(at..).unwrap_or_default();
            let skipped = if rest.starts_with("//") {
                rest.find(is_newline).unwrap_or(rest.len())
            } else if rest.starts_with("/*") {
                rest.find("*/").map_or(rest.len(), |end| end + 2)
            } else {
                rest.len() - rest.trim_start().len()
            };
            if skipped == 0 {
                return at as u32;
            }
            at += skipped;
        }
    }

    /// Replaces the token at or after `from` with spaces if it equals `token`.
    fn blank_token(&mut self, from: u32, token: char) {
        let at = self.next_token(from);
        let span = Span::new(at, at + token.len_utf8() as u32);
        if self.text(span).starts_with(token) {
            self.edits.blank(span);
        }
    }

    /// Replaces a list element and the comma after it with spaces.
    pub fn blank_element(&mut self, span: Span) {
        self.edits.blank(span);
        self.blank_token(span.end, ',');
    }

    /// Removes TypeScript's modifiers among the words between `from` and the name at `name`. In a class body, they are
    /// replaced with a `;`, because a modifier may be all that separates a member from the previous one.
    fn blank_modifiers(&mut self, from: u32, name: u32, in_class_body: bool) {
        const MODIFIERS: [&str; 6] = [
            "public",
            "protected",
            "private",
            "readonly",
            "override",
            "abstract",
        ];
        let mut at = self.next_token(from);
        while at < name {
            let rest = self.text(Span::new(at, name));
            let end = rest
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(rest.len());
            let Some(word) = rest.get(..end).filter(|word| !word.is_empty()) else {
                return;
            };
            let span = Span::new(at, at + end as u32);
            if MODIFIERS.contains(&word) {
                if in_class_body && at == from {
                    self.edits.blank_statement(span);
                } else {
                    self.edits.blank(span);
                }
            }
            at = self.next_token(span.end);
        }
    }

    /// The end of a member's name, including the bracket of a computed name.
    fn key_end(&self, key: &PropertyKey<'_>, computed: bool) -> u32 {
        if computed {
            self.next_token(key.span().end) + 1
        } else {
            key.span().end
        }
    }

    fn refuse_decorators(&mut self, decorators: &[Decorator<'_>]) {
        if let Some(decorator) = decorators.first() {
            self.refuse(
                decorator.span.start,
                "decorators cannot be run; apply the function yourself: `C = decorate(C)`",
            );
        }
    }

    /// Adds the assignments that `constructor(private a: T)` implies: `this.a = a`.
    fn assign_parameter_properties(&mut self, class: &Class<'_>, constructor: &Function<'_>) {
        let mut assignments = String::new();
        let properties = constructor.params.items.iter().filter(|parameter| {
            parameter.accessibility.is_some() || parameter.readonly || parameter.r#override
        });
        for parameter in properties {
            let BindingPattern::BindingIdentifier(id) = &parameter.pattern else {
                self.refuse(
                    parameter.span.start,
                    "a parameter property must be a plain name",
                );
                return;
            };
            assignments.push_str(&format!(" this.{0} = {0};", id.name));
        }
        let Some(body) = constructor
            .body
            .as_ref()
            .filter(|_| !assignments.is_empty())
        else {
            return;
        };
        if class.heritage.is_none() {
            let at = body
                .directives
                .last()
                .map_or(body.span.start + 1, |last| last.span.end);
            self.edits.insert(at, assignments);
            return;
        }
        // `this` does not exist before super().
        let super_call = body.statements.iter().find(|statement| {
            matches!(statement, Statement::ExpressionStatement(statement)
                if matches!(&statement.expression, Expression::CallExpression(call)
                    if matches!(call.callee, Expression::Super(_))))
        });
        match super_call {
            Some(statement) => {
                self.edits
                    .insert(statement.span().end, format!(";{assignments}"));
            }
            None => self.refuse(
                constructor.span.start,
                "parameter properties in a derived class need `super(…)` as a statement of its \
                 own; assign to `this` after it instead",
            ),
        }
    }

    fn import(&mut self, it: &ImportDeclaration<'_>) {
        let Some(specifiers) = it.specifiers.as_ref().filter(|list| !list.is_empty()) else {
            if it.import_kind == ImportOrExportKind::Type {
                self.edits.blank_statement(it.span);
            }
            return;
        };
        let keep = |specifier: &ImportDeclarationSpecifier<'_>| {
            let type_only = matches!(specifier, ImportDeclarationSpecifier::ImportSpecifier(s)
                if s.import_kind == ImportOrExportKind::Type);
            !type_only && self.usage.values.contains(specifier.local().name.as_str())
        };
        let kept: Vec<bool> = specifiers.iter().map(keep).collect();
        if it.import_kind == ImportOrExportKind::Type || !kept.contains(&true) {
            self.edits.blank_statement(it.span);
            return;
        }
        for (i, specifier) in specifiers.iter().enumerate() {
            if kept[i] {
                continue;
            }
            match specifier {
                // `import a, * as b`: without `* as b`, the comma before it must be removed too.
                ImportDeclarationSpecifier::ImportNamespaceSpecifier(_) if i > 0 => {
                    let start = specifiers[i - 1].span().end;
                    self.edits.blank(Span::new(start, specifier.span().end));
                }
                _ => self.blank_element(specifier.span()),
            }
        }
    }

    fn exported(
        &mut self,
        span: Span,
        kind: ImportOrExportKind,
        specifiers: &[ExportSpecifier<'_>],
        is_type: impl Fn(&Usage, &ExportSpecifier<'_>) -> bool,
    ) {
        let of_types: Vec<bool> = specifiers
            .iter()
            .map(|s| s.export_kind == ImportOrExportKind::Type || is_type(&self.usage, s))
            .collect();
        let nothing_left = !of_types.is_empty() && !of_types.contains(&false);
        if kind == ImportOrExportKind::Type || nothing_left {
            self.edits.blank_statement(span);
            return;
        }
        for (specifier, of_type) in specifiers.iter().zip(of_types) {
            if of_type {
                self.blank_element(specifier.span);
            }
        }
    }

    /// Whether a declaration has no JavaScript code.
    pub fn is_type_only(&self, declaration: &Declaration<'_>) -> bool {
        match declaration {
            Declaration::VariableDeclaration(it) => it.declare,
            Declaration::FunctionDeclaration(it) => it.declare || it.body.is_none(),
            Declaration::ClassDeclaration(it) => it.declare,
            Declaration::TSEnumDeclaration(it) => it.declare,
            Declaration::TSNamespaceDeclaration(it) => super::namespaces::is_empty(it),
            Declaration::TSImportEqualsDeclaration(it) => {
                it.import_kind == ImportOrExportKind::Type
                    || !self.usage.values.contains(it.id.name.as_str())
            }
            Declaration::TSTypeAliasDeclaration(_)
            | Declaration::TSInterfaceDeclaration(_)
            | Declaration::TSExternalModuleDeclaration(_)
            | Declaration::TSGlobalDeclaration(_) => true,
        }
    }
}

impl<'a> Visit<'a> for Stripper<'_> {
    fn visit_statement(&mut self, it: &Statement<'a>) {
        match it {
            Statement::ExportDeclaration(export) if self.is_type_only(&export.declaration) => {
                self.edits.blank_statement(export.span);
            }
            Statement::ExportDefaultDeclaration(export)
                if match &export.declaration {
                    ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => true,
                    ExportDefaultDeclarationKind::FunctionDeclaration(f) => f.body.is_none(),
                    _ => false,
                } =>
            {
                self.edits.blank_statement(export.span);
            }
            Statement::ExportNamedDeclaration(export) => {
                self.exported(
                    export.span,
                    export.export_kind,
                    &export.specifiers,
                    |usage, s| {
                        let name = s.local.name();
                        usage.types.contains(name.as_str())
                            && !usage.callables.contains(name.as_str())
                    },
                );
            }
            Statement::ExportFromDeclaration(export) => {
                self.exported(
                    export.span,
                    export.export_kind,
                    &export.specifiers,
                    |_, _| false,
                );
            }
            Statement::ExportAllDeclaration(export) => {
                if export.export_kind == ImportOrExportKind::Type {
                    self.edits.blank_statement(export.span);
                }
            }
            Statement::TSNamespaceExportDeclaration(export) => {
                self.edits.blank_statement(export.span);
            }
            Statement::TSExportAssignment(export) => {
                self.refuse(
                    export.span.start,
                    "`export =` is CommonJS syntax; use `export default`",
                );
            }
            Statement::ImportDeclaration(import) => self.import(import),
            _ => {
                if let Some(declaration) = it.as_declaration()
                    && self.is_type_only(declaration)
                {
                    self.edits.blank_statement(it.span());
                    return;
                }
                walk::walk_statement(self, it);
                if matches!(
                    it,
                    Statement::ExpressionStatement(_)
                        | Statement::VariableDeclaration(_)
                        | Statement::ReturnStatement(_)
                        | Statement::ThrowStatement(_)
                        | Statement::ExportDeclaration(_)
                        | Statement::ExportDefaultDeclaration(_)
                ) {
                    self.edits.end_statement(it.span().end);
                }
            }
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_token(it.id.span().end, '!');
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        self.refuse_decorators(&it.decorators);
        if it.accessibility.is_some() || it.readonly || it.r#override {
            self.blank_modifiers(it.span.start, it.pattern.span().start, false);
        }
        if it.optional {
            self.blank_token(it.pattern.span().end, '?');
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let source = self.source;
        let has_newline = |from: u32, to: u32| {
            source
                .get(from as usize..to as usize)
                .is_some_and(|text| text.contains(is_newline))
        };
        let open = it.params.span.start;
        let close = it.params.span.end.saturating_sub(1);
        // A newline is not allowed between `async` and `(`, nor between `)` and `=>`. If a type contains a newline, the
        // parenthesis moves to the other side of it.
        let before = it.type_parameters.as_ref().map(|it| it.span);
        if let Some(types) =
            before.filter(|&types| it.r#async && has_newline(types.start, types.end))
        {
            self.edits
                .replace(Span::new(types.start, types.start + 1), "(");
            self.edits.blank(Span::new(types.start + 1, types.end));
            self.edits.blank(Span::new(open, open + 1));
        }
        let after = it.return_type.as_ref().map(|it| it.span);
        if let Some(types) = after.filter(|types| has_newline(close, types.end)) {
            self.edits.blank(Span::new(close, types.end - 1));
            self.edits.replace(Span::new(types.end - 1, types.end), ")");
        }
        walk::walk_arrow_function_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.refuse_decorators(&it.decorators);
        if it.r#abstract {
            let at = self.next_token(it.span.start);
            self.edits
                .blank(Span::new(at, at + "abstract".len() as u32));
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = self.text(Span::new(0, first.span.start));
            let start = before.rfind("implements").unwrap_or(before.len());
            self.edits.blank(Span::new(start as u32, last.span.end));
        }
        for element in &it.body.body {
            if let ClassElement::MethodDefinition(method) = element
                && method.kind == MethodDefinitionKind::Constructor
            {
                self.assign_parameter_properties(it, &method.value);
            }
        }
        walk::walk_class(self, it);
    }

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let leaves_nothing = match it {
            ClassElement::MethodDefinition(it) => it.value.body.is_none(),
            ClassElement::PropertyDefinition(it) => {
                it.declare || it.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
            }
            ClassElement::TSIndexSignature(_) => true,
            ClassElement::AccessorProperty(it) => {
                self.refuse(
                    it.span.start,
                    "`accessor` cannot be run; write a getter and a setter",
                );
                return;
            }
            ClassElement::StaticBlock(_) => false,
        };
        if leaves_nothing {
            self.edits.blank_statement(it.span());
        } else {
            walk::walk_class_element(self, it);
        }
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.refuse_decorators(&it.decorators);
        self.blank_modifiers(it.span.start, it.key.span().start, true);
        if it.optional {
            self.blank_token(self.key_end(&it.key, it.computed), '?');
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.refuse_decorators(&it.decorators);
        self.blank_modifiers(it.span.start, it.key.span().start, true);
        if it.optional || it.definite {
            let mark = if it.optional { '?' } else { '!' };
            self.blank_token(self.key_end(&it.key, it.computed), mark);
        }
        walk::walk_property_definition(self, it);
        self.edits.end_statement(it.span.end);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.make_enum(it);
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.make_namespace(it);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if matches!(
            it.module_reference,
            TSModuleReference::ExternalModuleReference(_)
        ) {
            self.refuse(
                it.span.start,
                "`import x = require(…)` is CommonJS syntax; use `import x from …`",
            );
        } else {
            // It has the same length as the word that it replaces.
            let word = Span::new(it.span.start, it.span.start + "import".len() as u32);
            self.edits.replace(word, "const ");
        }
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.edits
            .blank(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.edits
            .blank(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.edits
            .blank(Span::new(it.expression.span().end, it.span.end));
        self.visit_expression(&it.expression);
    }

    /// `<T>x` becomes `(  x)`: without the parentheses, an object literal could become a block and
    /// a newline could end the statement.
    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let start = it.span.start;
        self.edits.replace(Span::new(start, start + 1), "(");
        self.edits
            .blank(Span::new(start + 1, it.expression.span().start));
        self.edits.insert(it.span.end, ")");
        self.visit_expression(&it.expression);
    }

    fn visit_ts_this_parameter(&mut self, it: &TSThisParameter<'a>) {
        self.blank_element(it.span);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.edits.blank(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.edits.blank(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.edits.blank(it.span);
    }

    // It is blanked together with its class.
    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}
}
