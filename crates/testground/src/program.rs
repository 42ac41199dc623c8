//! Finds programs, or names the package to install if a program is missing.

use std::path::{Path, PathBuf};

/// Finds a program: in `places` first, then in the directories of PATH.
pub fn find(name: &str, places: &[&str], package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    places
        .iter()
        .map(PathBuf::from)
        .chain(std::env::split_paths(&path))
        .map(|directory| directory.join(name))
        .find(|program| program.is_file())
        .unwrap_or_else(|| panic!("{}", missing_message(name, package)))
}

/// Checks that a file of a package exists.
pub fn require(file: &str, package: &str) {
    assert!(
        Path::new(file).exists(),
        "{}",
        missing_message(file, package)
    );
}

fn missing_message(name: &str, package: &str) -> String {
    format!(
        "this test needs {name}, which is not installed. On Debian: apt-get install {package} (or run .ci/run, which installs everything that the tests need)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_programs_are_named_with_their_package() {
        let caught = std::panic::catch_unwind(|| find("no-such-program", &["/nowhere"], "no-such"));
        let message = caught.unwrap_err().downcast::<String>().unwrap();
        assert!(message.contains("apt-get install no-such "), "{message}");
        assert!(find("sh", &["/nowhere"], "dash").ends_with("sh"));
    }
}
