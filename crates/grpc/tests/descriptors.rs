//! The descriptors that the test kit serves must match its `.proto`.

use std::path::PathBuf;

use plimsoll_grpc::{Schema, Source};

struct Folder(PathBuf);

impl Source for Folder {
    fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.0.join(name)).ok()
    }
}

#[test]
fn the_test_kits_descriptors_are_up_to_date() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../testkit/src/case_server");
    let set = Schema::compile_set(&["cases.proto".to_owned()], Folder(folder.clone())).unwrap();
    let path = folder.join("cases.protoset");
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &set).unwrap();
    }
    assert!(
        std::fs::read(&path).unwrap_or_default() == set,
        "cases.protoset is stale: run this test with UPDATE_SNAPSHOTS=1"
    );
}
