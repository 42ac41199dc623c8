//! Descriptions of services and messages, from `.proto` files, descriptor sets or reflection.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use prost_reflect::{DescriptorPool, MethodDescriptor};
use protox::Compiler;
use protox::file::{ChainFileResolver, File, FileResolver, GoogleFileResolver};

use crate::details;
use crate::json::Described;
use crate::status::Status;
use crate::wire;

/// The source of `.proto` files.
pub trait Source {
    /// The text of the file for `import "name";`, or `None` if it does not exist.
    fn read(&self, name: &str) -> Option<String>;
}

/// Known services and message types.
#[derive(Clone, Default)]
pub struct Schema {
    pool: DescriptorPool,
}

/// A method of a service.
#[derive(Clone, Debug)]
pub struct Method {
    descriptor: MethodDescriptor,
}

/// The reason why a description is not usable, in one or more sentences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError(pub String);

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for SchemaError {}

impl Schema {
    pub fn new() -> Schema {
        Schema::default()
    }

    /// Compiles `.proto` files, named as in an `import`, and the files that they import.
    ///
    /// # Errors
    /// If a file is missing or invalid. The message contains the location.
    pub fn compile(
        &mut self,
        files: &[String],
        source: impl Source + 'static,
    ) -> Result<Vec<Method>, SchemaError> {
        self.add(&Schema::compile_set(files, source)?)?;
        Ok(self.methods_of(files))
    }

    /// Compiles `.proto` files and all their imports to a serialized `FileDescriptorSet`.
    ///
    /// # Errors
    /// If a file is missing or invalid. The message contains the location.
    pub fn compile_set(
        files: &[String],
        source: impl Source + 'static,
    ) -> Result<Vec<u8>, SchemaError> {
        let mut resolver = ChainFileResolver::new();
        resolver.add(Sources(source));
        resolver.add(GoogleFileResolver::new());
        let mut compiler = Compiler::with_file_resolver(resolver);
        compiler.include_imports(true);
        for file in files {
            compiler
                .open_file(file)
                .map_err(|error| SchemaError(message_of(&error)))?;
        }
        Ok(compiler.encode_file_descriptor_set())
    }

    /// Adds a serialized `FileDescriptorSet`, as `protoc --descriptor_set_out` writes it with
    /// `--include_imports`.
    ///
    /// # Errors
    /// The reason why it is invalid.
    pub fn add_set(&mut self, bytes: &[u8]) -> Result<Vec<Method>, SchemaError> {
        let names: Vec<String> = wire::fields(bytes)
            .filter_map(|field| match field {
                wire::Field::Bytes(1, file) => wire::bytes_of(file, 1),
                _ => None,
            })
            .map(|name| String::from_utf8_lossy(name).into_owned())
            .collect();
        self.add(bytes)?;
        Ok(self.methods_of(&names))
    }

    /// Adds serialized `FileDescriptorProto`s by name.
    pub(crate) fn add_files(
        &mut self,
        files: &BTreeMap<String, Vec<u8>>,
    ) -> Result<Vec<Method>, SchemaError> {
        let mut set = Vec::new();
        for file in files.values() {
            wire::put_bytes(&mut set, 1, file);
        }
        self.add(&set)?;
        let names: Vec<String> = files.keys().cloned().collect();
        Ok(self.methods_of(&names))
    }

    /// Adds the content of another schema.
    ///
    /// # Errors
    /// If the two schemas contradict each other.
    pub fn merge(&mut self, other: &Schema) -> Result<(), SchemaError> {
        if self.pool.files().len() == 0 {
            *self = other.clone();
            return Ok(());
        }
        self.add(&other.pool.encode_to_vec())
    }

    fn add(&mut self, set: &[u8]) -> Result<(), SchemaError> {
        check_syntax(set)?;
        let mut pool = self.pool.clone();
        pool.decode_file_descriptor_set(set)
            .map_err(|error| SchemaError(error.to_string()))?;
        self.pool = pool;
        Ok(())
    }

    fn methods_of(&self, files: &[String]) -> Vec<Method> {
        files
            .iter()
            .filter_map(|name| self.pool.get_file_by_name(name))
            .flat_map(|file| file.services().collect::<Vec<_>>())
            .flat_map(|service| service.methods().collect::<Vec<_>>())
            .map(|descriptor| Method { descriptor })
            .collect()
    }

    pub fn methods(&self) -> impl Iterator<Item = Method> + '_ {
        self.pool
            .services()
            .flat_map(|service| service.methods().collect::<Vec<_>>())
            .map(|descriptor| Method { descriptor })
    }

    /// The method named `package.Service/Method` or `package.Service.Method`, optionally with a leading
    /// slash.
    pub fn method(&self, name: &str) -> Option<Method> {
        let (service, method) = split_method(name)?;
        let service = self.pool.get_service_by_name(service)?;
        let found = service.methods().find(|known| known.name() == method);
        found.map(|descriptor| Method { descriptor })
    }

    /// The message type with the given full name.
    pub fn message(&self, name: &str) -> Option<Described> {
        self.pool.get_message_by_name(name).map(Described::new)
    }
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.methods().map(|method| method.path()).collect();
        f.debug_struct("Schema").field("methods", &names).finish()
    }
}

/// Splits a name into service and method.
pub(crate) fn split_method(name: &str) -> Option<(&str, &str)> {
    let name = name.strip_prefix('/').unwrap_or(name);
    name.rsplit_once('/').or_else(|| name.rsplit_once('.'))
}

impl Method {
    /// `/package.Service/Method`.
    pub fn path(&self) -> String {
        format!("/{}/{}", self.service(), self.descriptor.name())
    }

    /// `package.Service`.
    pub fn service(&self) -> String {
        self.descriptor.parent_service().full_name().to_owned()
    }

    /// `package`; may be empty.
    pub fn package(&self) -> String {
        self.descriptor.parent_service().package_name().to_owned()
    }

    /// The service's name without its package.
    pub fn service_name(&self) -> String {
        self.descriptor.parent_service().name().to_owned()
    }

    pub fn name(&self) -> &str {
        self.descriptor.name()
    }

    /// Whether the client may send any number of messages.
    pub fn client_streams(&self) -> bool {
        self.descriptor.is_client_streaming()
    }

    /// Whether the server may send any number of messages.
    pub fn server_streams(&self) -> bool {
        self.descriptor.is_server_streaming()
    }

    /// The type of the request messages.
    pub fn input(&self) -> Described {
        Described::new(self.descriptor.input())
    }

    /// The type of the response messages.
    pub fn output(&self) -> Described {
        Described::new(self.descriptor.output())
    }

    /// The details of a failed call as a JSON array. A type that the method's schema does not describe
    /// is represented as base64: `{"@type": "…", "value": "…"}`.
    pub fn details(&self, status: &Status) -> String {
        details::to_json(&status.details, self.descriptor.parent_pool())
    }
}

/// Rejects files with a syntax on which the descriptor pool panics, for example editions.
fn check_syntax(set: &[u8]) -> Result<(), SchemaError> {
    // Field numbers of descriptor.proto.
    const FILE: u32 = 1;
    const SYNTAX: u32 = 12;
    let strings = |message, wanted| {
        wire::fields(message).filter_map(move |field| match field {
            wire::Field::Bytes(number, bytes) if number == wanted => Some(bytes),
            _ => None,
        })
    };
    for file in strings(set, FILE) {
        let mut unknown =
            strings(file, SYNTAX).filter(|&syntax| !matches!(syntax, b"proto2" | b"proto3"));
        if let Some(syntax) = unknown.next() {
            let name = wire::bytes_of(file, FILE).unwrap_or_default();
            return Err(SchemaError(format!(
                "{} has the syntax {:?}, which is not supported; use proto2 or proto3",
                String::from_utf8_lossy(name),
                String::from_utf8_lossy(syntax),
            )));
        }
    }
    Ok(())
}

/// Adapts a [`Source`] to the compiler's interface.
struct Sources<S>(S);

impl<S: Source> FileResolver for Sources<S> {
    fn resolve_path(&self, path: &Path) -> Option<String> {
        path.to_str().map(str::to_owned)
    }

    fn open_file(&self, name: &str) -> Result<File, protox::Error> {
        match self.0.read(name) {
            Some(text) => File::from_source(name, &text),
            None => Err(protox::Error::file_not_found(name)),
        }
    }
}

/// The compiler's error and its file, on one line.
fn message_of(error: &protox::Error) -> String {
    let text = error.to_string();
    match error.file() {
        Some(file) if !text.contains(file) => format!("{file}: {text}"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Texts(Vec<(&'static str, &'static str)>);

    impl Source for Texts {
        fn read(&self, name: &str) -> Option<String> {
            let found = self.0.iter().find(|(known, _)| *known == name);
            found.map(|(_, text)| (*text).to_owned())
        }
    }

    fn greeter() -> Texts {
        Texts(vec![
            (
                "a.proto",
                "syntax = \"proto3\"; package a; import \"b.proto\"; import \"google/protobuf/empty.proto\";
                 service S { rpc Say(b.Word) returns (stream b.Word); rpc No(stream google.protobuf.Empty) returns (b.Word); }",
            ),
            (
                "b.proto",
                "syntax = \"proto3\"; package b; message Word { string text = 1; }",
            ),
        ])
    }

    #[test]
    fn files_are_compiled_with_what_they_import() {
        let mut schema = Schema::new();
        let methods = schema.compile(&["a.proto".to_owned()], greeter()).unwrap();
        let message_of: Vec<_> = methods
            .iter()
            .map(|method| {
                (
                    method.path(),
                    method.client_streams(),
                    method.server_streams(),
                )
            })
            .collect();
        assert_eq!(
            message_of,
            [
                ("/a.S/Say".to_owned(), false, true),
                ("/a.S/No".to_owned(), true, false)
            ]
        );
        for name in ["a.S/Say", "/a.S/Say", "a.S.Say"] {
            assert!(schema.method(name).is_some(), "{name}");
        }
        for name in ["a.S/Shout", "b.S/Say", "Say", ""] {
            assert!(schema.method(name).is_none(), "{name}");
        }
    }

    #[test]
    fn the_same_file_may_be_given_twice() {
        let mut schema = Schema::new();
        schema.compile(&["a.proto".to_owned()], greeter()).unwrap();
        schema.compile(&["a.proto".to_owned()], greeter()).unwrap();
        assert_eq!(schema.methods().count(), 2);
    }

    #[test]
    fn errors_are_reported_with_their_file() {
        let mut schema = Schema::new();
        let mut fails = |files: Vec<(&'static str, &'static str)>| {
            let names = ["x.proto".to_owned()];
            schema.compile(&names, Texts(files)).unwrap_err().0
        };
        assert!(fails(vec![]).contains("x.proto"));
        assert!(fails(vec![("x.proto", "syntax = \"proto3\"; mess")]).contains("x.proto"));
        let missing = fails(vec![(
            "x.proto",
            "syntax = \"proto3\"; import \"y.proto\";",
        )]);
        assert!(missing.contains("y.proto"), "{missing}");
    }

    #[test]
    fn an_invalid_descriptor_set_is_refused() {
        assert!(Schema::new().add_set(b"\xff\xff\xffnothing").is_err());
    }

    /// The descriptor pool panics on such files, and a server's reflection service may send them.
    #[test]
    fn a_file_in_an_unknown_syntax_is_refused() {
        let mut set = Vec::new();
        let mut file = Vec::new();
        wire::put_bytes(&mut file, 1, b"m.proto");
        wire::put_bytes(&mut file, 12, b"editions");
        wire::put_bytes(&mut set, 1, &file);
        let error = Schema::new().add_set(&set).unwrap_err().to_string();
        assert_eq!(
            error,
            "m.proto has the syntax \"editions\", which is not supported; use proto2 or proto3"
        );
    }
}
