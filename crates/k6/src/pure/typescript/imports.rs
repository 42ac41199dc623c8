//! The modules that a source imports. The source is not run.

use oxc_allocator::Allocator;
use oxc_ast::ast::Statement;
use oxc_parser::Parser;
use oxc_span::SourceType;

use super::deep_stack::on_deep_stack;

/// The dependencies that a source declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imports {
    /// The names of modules in `import` and `export … from`, as written.
    pub specifiers: Vec<String>,
    /// Directives such as `use k6 with k6/x/redis >= 0.3`.
    pub directives: Vec<String>,
}

/// The imports of a source. Empty if it cannot be parsed.
pub fn imports(source: &str, is_typescript: bool) -> Imports {
    on_deep_stack(source, || imports_here(source, is_typescript))
}

fn imports_here(source: &str, is_typescript: bool) -> Imports {
    let allocator = Allocator::default();
    let kind = match is_typescript {
        true => SourceType::ts(),
        false => SourceType::mjs(),
    };
    let parsed = Parser::new(&allocator, source, kind).parse();
    let specifiers = parsed
        .program
        .body
        .iter()
        .filter_map(|statement| match statement {
            Statement::ImportDeclaration(import) if import.import_kind.is_type() => None,
            Statement::ImportDeclaration(import) => Some(import.source.value.to_string()),
            Statement::ExportAllDeclaration(export) => Some(export.source.value.to_string()),
            Statement::ExportFromDeclaration(export) => Some(export.source.value.to_string()),
            _ => None,
        });
    let directives = parsed.program.directives.iter();
    Imports {
        specifiers: specifiers.collect(),
        directives: directives.map(|it| it.directive.to_string()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_and_directives_are_found() {
        let found = imports(
            "'use k6 > 1.2';\nimport a from './a.js'; import './b.js';\nexport { c } from 'c';\nexport * from 'd';\n\
             export const e = 1;\nconst g = 'import h from \"h\"';",
            false,
        );
        assert_eq!(found.specifiers, ["./a.js", "./b.js", "c", "d"]);
        assert_eq!(found.directives, ["use k6 > 1.2"]);
        let typed = imports("import type { A } from 'a'; import { B } from 'b';", true);
        assert_eq!(typed.specifiers, ["b"]);
    }
}
