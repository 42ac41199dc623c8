//! Where the tests of pages find their browser.

/// The path of Chromium: `CHROMIUM`, or where Debian installs it.
///
/// # Panics
/// If there is no program at that path.
pub fn chromium() -> String {
    let path = std::env::var("CHROMIUM").unwrap_or_else(|_| "/usr/bin/chromium".to_owned());
    assert!(
        std::path::Path::new(&path).exists(),
        "this test needs Chromium: apt-get install chromium, or CHROMIUM=its path"
    );
    path
}
