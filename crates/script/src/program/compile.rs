//! Compiles source code to bytecode: ES module or CommonJS, JavaScript or TypeScript.

use std::rc::Rc;
use std::sync::OnceLock;

use plimsoll_quickjs::{
    Bytecode, Context, Exception, Loader, Module, Runtime, Settings, SourceText, Thrown, Value,
    on_new_stack,
};

use super::Location;

/// A file that was compiled once and that every user loads.
pub enum Compiled {
    Module {
        code: Bytecode,
        /// Whether the source mentions `import.meta`.
        uses_meta: bool,
    },
    CommonJs {
        /// A script that evaluates to a function of `(module, exports)`.
        code: Bytecode,
        /// The keys of its exports, known after its first run.
        names: OnceLock<Vec<String>>,
    },
    Json(String),
}

/// Compiles the source of the file at `location`.
///
/// # Errors
/// The error in the source, with its position.
pub fn compile(
    location: &Location,
    source: &[u8],
    may_be_typescript: bool,
) -> Result<Compiled, String> {
    let name = location.name();
    let Ok(text) = std::str::from_utf8(source) else {
        return Err(format!("{name}: the file is not UTF-8 text"));
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if location.extension() == "json" {
        return match serde_json::from_str::<serde::de::IgnoredAny>(text) {
            Ok(_) => Ok(Compiled::Json(text.to_owned())),
            Err(error) => Err(format!("{name}: {error}")),
        };
    }
    // A script that imports or requires a file compiles it on its own stack, which is too small for deeply nested
    // sources.
    on_new_stack(COMPILER_STACK, || {
        compile_text(&name, text, may_be_typescript)
    })
    .map_err(|error| format!("{name}: {error}"))?
}

fn compile_text(name: &str, text: &str, may_be_typescript: bool) -> Result<Compiled, String> {
    let plain = compile_script(name, text);
    match plain {
        Err(_) if may_be_typescript => {
            let stripped = plimsoll_k6::pure::typescript::strip(text)
                .map_err(|error| format!("{name}: {error}"))?;
            compile_script(name, &stripped)
        }
        outcome => outcome,
    }
}

fn compile_script(name: &str, text: &str) -> Result<Compiled, String> {
    // Each file is compiled in its own runtime, which no other code can have modified.
    let settings = Settings {
        names: &[],
        memory_limit: None,
        loader: Rc::new(NoImports),
    };
    let kept = source_text(text);
    let runtime = Runtime::new(settings, Rc::new(())).map_err(|error| error.to_string())?;
    runtime.enter_with_stack(COMPILER_STACK, |context| {
        let as_module = Module::compile(context, text, name, kept);
        if let Ok((module, code)) = &as_module
            && module.has_module_syntax()
        {
            return Ok(Compiled::Module {
                code: code.clone(),
                uses_meta: text.contains("import.meta"),
            });
        }
        // The wrapper is on the first line, so that line numbers stay the same. A hashbang becomes a comment within
        // it.
        let body = text.strip_prefix("#!").map(|rest| format!("//{rest}"));
        let body = body.as_deref().unwrap_or(text);
        let wrapped = format!("(function (module, exports) {{{body}\n}})");
        match (
            Bytecode::of_script(context, &wrapped, name, kept),
            as_module,
        ) {
            (Ok(code), _) => Ok(Compiled::CommonJs {
                code,
                names: OnceLock::new(),
            }),
            (Err(thrown), Ok((_, code))) => {
                drop(context.take_exception(thrown));
                Ok(Compiled::Module {
                    code,
                    uses_meta: true,
                })
            }
            (Err(_), Err(as_module)) => {
                // The second attempt has replaced the exception of the first one. The first exception must be reported,
                // so compile again to get it.
                drop(as_module);
                match Module::compile(context, text, name, kept) {
                    Err(thrown) => Err(describe(name, &context.take_exception(thrown))),
                    Ok(_) => Err(format!("{name}: cannot be compiled")),
                }
            }
        }
    })
}

/// As in k6, a function converted to a string shows its source. Large libraries keep no source, because each function
/// would hold the source of all functions in it. Functions that a script passes to `k6/browser` run in pages, which
/// need their source.
fn source_text(text: &str) -> SourceText {
    const SMALL: usize = 64 << 10;
    const IN_PAGES: [&str; 5] = [
        "k6/browser",
        ".evaluate(",
        ".evaluateHandle(",
        ".waitForFunction(",
        ".addInitScript(",
    ];
    match text.len() <= SMALL || IN_PAGES.iter().any(|word| text.contains(word)) {
        true => SourceText::Kept,
        false => SourceText::Dropped,
    }
}

/// The stack size for parsing. It is enough for sources nested far more deeply than any reasonable one.
const COMPILER_STACK: usize = 1024 * 1024;

/// `file:line:column: SyntaxError: …`.
fn describe(name: &str, exception: &Exception<'_>) -> String {
    let text = exception.text();
    match exception.frames().first() {
        Some(frame) if frame.place.starts_with(name) => format!("{}: {text}", frame.place),
        _ => format!("{name}: {text}"),
    }
}

/// A loader for compiling, which resolves no imports.
struct NoImports;

impl Loader for NoImports {
    fn resolve<'c>(
        &self,
        context: &'c Context,
        _: &str,
        name: &str,
        _: &Value<'c>,
    ) -> Result<String, Thrown> {
        Err(context.throw_plain(format!("{name} cannot be imported while compiling")))
    }

    fn load<'c>(
        &self,
        context: &'c Context,
        name: &str,
        _: &Value<'c>,
    ) -> Result<Module<'c>, Thrown> {
        Err(context.throw_plain(format!("{name} cannot be imported while compiling")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(file: &str, source: &str) -> String {
        let location = Location::File(file.into());
        match compile(&location, source.as_bytes(), file.ends_with(".ts")) {
            Ok(Compiled::Module { .. }) => "module".to_owned(),
            Ok(Compiled::CommonJs { .. }) => "commonjs".to_owned(),
            Ok(Compiled::Json(_)) => "json".to_owned(),
            Err(error) => error,
        }
    }

    #[test]
    fn syntax_determines_the_kind_of_a_file() {
        assert_eq!(kind("/a.js", "export default 1"), "module");
        assert_eq!(kind("/a.js", "import 'k6'"), "module");
        assert_eq!(kind("/a.js", "await 1"), "module");
        assert_eq!(kind("/a.js", "exports.a = 1"), "commonjs");
        assert_eq!(kind("/a.js", ""), "commonjs");
        assert_eq!(
            kind("/a.js", "#!/usr/bin/env k6\nvar a = 010; with (a) {}"),
            "commonjs"
        );
        assert_eq!(kind("/a.js", "// it ends in a comment"), "commonjs");
        assert_eq!(kind("/a.js", "console.log(import.meta)"), "module");
        assert_eq!(kind("/a.js", "\u{feff}export default 1"), "module");
        assert_eq!(kind("/a.json", "{\"a\": 1}"), "json");
    }

    #[test]
    fn errors_are_reported_with_their_position() {
        let error = kind("/w/a.js", "export default 1\nconst x = ;");
        assert!(
            error.starts_with("file:///w/a.js:2:11: SyntaxError: "),
            "{error}"
        );
        assert!(kind("/a.json", "{").starts_with("file:///a.json: "));
        let location = Location::File("/a.js".into());
        assert!(
            compile(&location, &[0xff], false)
                .err()
                .unwrap()
                .contains("UTF-8")
        );
    }
}
