//! Archives of scripts: any bytes give a result, and reading them needs only a few times their size in memory. An archive
//! that was read can be written, and reads the same again.

use plimsoll_script::Archive;

use super::Target;

pub const TARGET: Target = Target {
    name: "archive",
    run,
    seeds: &[
        include_bytes!("../../../cases/archive/run/tests.tar"),
        include_bytes!("../../../cases/archive/cut/tests.tar"),
        include_bytes!("../../../cases/archive/missing-file/tests.tar"),
    ],
    words: &[
        "ustar",
        "metadata.json",
        "data",
        "file/",
        "https/",
        "././@LongLink",
        "path=",
        "size=",
        "77777777777",
        "\"filename\": \"file:///x.js\"",
        "\"env\": ",
        "\"pwd\": ",
    ],
};

fn run(data: &[u8]) {
    let Ok(archive) = Archive::read(data) else {
        return;
    };
    let size: usize = archive.files.files.values().map(|bytes| bytes.len()).sum();
    let web: usize = archive.files.web.values().map(|bytes| bytes.len()).sum();
    assert!(archive.source.len() <= data.len());
    // Links share the data of their targets.
    assert!(size + web <= data.len() * (1 + data.len() / 512));
    let mut written = Vec::new();
    if archive.write(&mut written).is_ok() {
        let again = Archive::read(&written);
        assert_eq!(again.map(|again| again.source), Ok(archive.source));
    }
}
