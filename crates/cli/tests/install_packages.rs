//! The Debian package and the container's file system, which the scripts of a release build from the program under
//! test.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use plimsoll_testkit::peers::{Peer, Play};

const PROGRAM: &str = env!("CARGO_BIN_EXE_plimsoll");

fn packaging(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../packaging")
        .join(name)
}

/// The output of a command that must succeed.
fn output(command: &mut Command) -> String {
    let ended = command.output().expect("the program runs");
    let errors = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{command:?}: {errors}");
    String::from_utf8(ended.stdout).expect("text")
}

/// Runs a command with another root directory. If this user may do so, as a user without privileges.
fn below(root: &Path) -> Command {
    let is_root = output(Command::new("id").arg("-u")).trim() == "0";
    let mut command = if is_root {
        let mut command = Command::new("chroot");
        command.arg("--userspec=65532:65532");
        command
    } else {
        let mut command = Command::new("unshare");
        command.args(["--map-root-user", "chroot"]);
        command
    };
    command.arg(root).env_clear().env("HOME", "/tmp");
    command.env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
    command
}

#[test]
fn the_container_contains_everything_that_the_program_needs() {
    let root = tempfile::tempdir().expect("a directory");
    // Another user must be able to enter the directory.
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(root.path(), open).expect("permissions");
    let mut script = Command::new(packaging("docker/root-filesystem"));
    output(script.arg(root.path()).arg(PROGRAM));
    let server = Peer::start(Play::ok("hello"));
    let arguments = ["/usr/bin/plimsoll", "http", "-n", "20", "--json"];
    let result = output(below(root.path()).args(arguments).arg(server.url()));
    let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    assert_eq!(result["requests"], 20);
    assert_eq!(result["failed"], 0);
    // Look up a name without the system's files.
    let url = server.url().replace("127.0.0.1", "localhost");
    fs::write(root.path().join("etc/hosts"), "127.0.0.1 localhost\n").expect("a file");
    let result = output(below(root.path()).args(arguments).arg(url));
    assert!(result.contains("\"failed\": 0"), "{result}");
}

#[test]
fn the_script_builds_an_image_without_privileges() {
    let file = fs::read_to_string(packaging("docker/Dockerfile")).expect("the Dockerfile");
    for part in [
        "RUSTFLAGS=\"-C target-feature=+crt-static\"",
        "packaging/docker/root-filesystem /image",
        "FROM scratch",
        "COPY --from=build /image/ /",
        "USER 65532:65532",
        "ENTRYPOINT [\"/usr/bin/plimsoll\"]",
    ] {
        assert!(file.contains(part), "{part}");
    }
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml");
    let manifest = fs::read_to_string(manifest).expect("the manifest");
    let version = manifest
        .lines()
        .find_map(|line| line.strip_prefix("rust-version = "))
        .expect("a version")
        .trim_matches('"');
    assert!(file.contains(&format!("rust:{version}-")), "{version}");
}

#[test]
fn the_debian_package_installs_the_program_its_manual_and_completions() {
    let folder = tempfile::tempdir().expect("a directory");
    let programs = folder.path().join("programs");
    fs::create_dir(&programs).expect("a directory");
    fs::copy(PROGRAM, programs.join("plimsoll")).expect("a copy");
    let package = output(
        Command::new(packaging("debian/build"))
            .arg(&programs)
            .args(["1.2.3", "amd64"])
            .arg(folder.path())
            .env("COMPRESSION", "none"),
    );
    let package = package.trim();
    let field = |name: &str| output(Command::new("dpkg-deb").args(["--field", package, name]));
    assert_eq!(field("Version").trim(), "1.2.3");
    assert!(
        field("Depends").starts_with("libc6 (>= 2."),
        "{}",
        field("Depends")
    );
    let root = folder.path().join("root");
    output(
        Command::new("dpkg-deb")
            .args(["--extract", package])
            .arg(&root),
    );
    let version = output(Command::new(root.join("usr/bin/plimsoll")).arg("version"));
    assert!(version.contains("plimsoll"), "{version}");
    for file in [
        "usr/share/man/man1/plimsoll.1.gz",
        "usr/share/man/man1/plimsoll-run.1.gz",
        "usr/share/man/man1/plimsoll-lab-run.1.gz",
        "usr/share/bash-completion/completions/plimsoll",
        "usr/share/zsh/vendor-completions/_plimsoll",
        "usr/share/fish/vendor_completions.d/plimsoll.fish",
        "usr/share/doc/plimsoll/copyright",
    ] {
        let size = fs::metadata(root.join(file)).map(|file| file.len());
        assert!(size.is_ok_and(|size| size > 100), "{file}");
    }
}
