//! Repeated calls of one gRPC method: its schema and the users that call it.

use std::cell::OnceCell;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use plimsoll_grpc::{Metadata, Schema};
use plimsoll_plan::Scenario;
use plimsoll_scriptless::{CallSpec, GrpcUsers};
use plimsoll_verdict::with_hint;

/// Repeated calls of one method.
pub struct Grpc {
    pub call: CallSpec,
    /// `package.Service/Method`.
    pub method: String,
    pub schema: SchemaSource,
    /// JSON messages with placeholders, used in rotation.
    pub messages: Vec<String>,
    pub scenario: Scenario,
}

/// The source of the method's description.
pub enum SchemaSource {
    /// A compiled set of descriptors.
    Protoset(PathBuf),
    /// A .proto file, and the folders with its imports.
    Proto {
        file: PathBuf,
        imports: Vec<PathBuf>,
    },
    /// The server's reflection service, called with this metadata. `None`: the metadata of the calls.
    Reflection(Option<Metadata>),
}

impl Grpc {
    /// Reads the files of the schema now, instead of at the start of the run.
    ///
    /// # Errors
    /// If they have no valid schema.
    pub(crate) fn read_files(&self) -> Result<(), String> {
        match &self.schema {
            SchemaSource::Reflection(_) => Ok(()),
            files => schema(files, &self.call, &self.method).map(|_| ()),
        }
    }

    /// The users, their messages and their scenario.
    pub(crate) fn users(self) -> Result<(GrpcUsers, Vec<String>, Scenario), String> {
        let name = &self.method;
        let schema = schema(&self.schema, &self.call, name)?;
        let method = schema.method(name).ok_or_else(|| {
            let paths: Vec<String> = schema.methods().map(|method| method.path()).collect();
            let known = paths.iter().map(|path| path.trim_start_matches('/'));
            let wanted = name.trim_start_matches('/');
            let near = plimsoll_units::nearest(wanted, known.clone());
            match near {
                Some(near) => format!("unknown method {wanted:?}; did you mean {near}?"),
                None if paths.is_empty() => format!(
                    "unknown method {wanted:?}: write it with its service, like helloworld.Greeter/SayHello"
                ),
                None => format!(
                    "unknown method {wanted:?}; the service has {}",
                    known.collect::<Vec<_>>().join(", ")
                ),
            }
        })?;
        let users = GrpcUsers::new(self.call, method, &self.messages)?;
        Ok((users, self.messages, self.scenario))
    }
}

fn schema(source: &SchemaSource, call: &CallSpec, method: &str) -> Result<Schema, String> {
    let mut schema = Schema::new();
    match source {
        SchemaSource::Protoset(path) => {
            let set = plimsoll_machine::read_file(path).map_err(|error| {
                format!("--protoset {}: cannot read it: {error}", path.display())
            })?;
            schema
                .add_set(&set)
                .map_err(|error| format!("--protoset {}: {error}", path.display()))?;
        }
        SchemaSource::Proto { file, imports } => {
            let (name, folders) = proto_place(file, imports);
            let unreadable: Rc<OnceCell<String>> = Rc::default();
            let source = ProtoFolders {
                folders,
                unreadable: Rc::clone(&unreadable),
            };
            schema.compile(&[name], source).map_err(|error| {
                // The compiler reports a file that cannot be read as missing, so look for the real reason.
                let reason = unreadable
                    .get()
                    .cloned()
                    .unwrap_or_else(|| error.to_string());
                format!("--proto {}: {reason}", file.display())
            })?;
        }
        SchemaSource::Reflection(metadata) => {
            let metadata = metadata.as_ref().unwrap_or(&call.metadata);
            return plimsoll_scriptless::reflect(call, method, metadata)
                .map_err(|error| with_hint(&error));
        }
    }
    Ok(schema)
}

/// The path of a file as imports use it, and the folders to search for imports.
fn proto_place(path: &Path, imports: &[PathBuf]) -> (String, Vec<PathBuf>) {
    let mut folders = imports.to_vec();
    for folder in imports {
        if let Ok(name) = path.strip_prefix(folder) {
            return (name.to_string_lossy().into_owned(), folders);
        }
        if plimsoll_machine::file_exists(&folder.join(path)) {
            return (path.to_string_lossy().into_owned(), folders);
        }
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name().unwrap_or_default();
    folders.insert(0, folder.to_owned());
    (name.to_string_lossy().into_owned(), folders)
}

struct ProtoFolders {
    folders: Vec<PathBuf>,
    /// Why an existing file could not be read. Returns the first reason found.
    unreadable: Rc<OnceCell<String>>,
}

impl plimsoll_grpc::Source for ProtoFolders {
    fn read(&self, name: &str) -> Option<String> {
        self.folders.iter().find_map(|folder| {
            let path = folder.join(name);
            match plimsoll_machine::read_text_file(&path) {
                Ok(text) => return Some(text),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => {
                    let _ = self
                        .unreadable
                        .set(format!("could not read {}: {error}", path.display()));
                }
            }
            None
        })
    }
}
