//! Finds Chromium for the tests of browser pages.

/// The path of Chromium: `CHROMIUM`, or the path where Debian installs it.
///
/// # Panics
/// If that path does not exist.
pub fn chromium() -> String {
    let path = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    assert!(
        std::path::Path::new(&path).exists(),
        "this test needs Chromium: run apt-get install chromium, or set CHROMIUM to its path"
    );
    path
}
