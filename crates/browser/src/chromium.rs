//! A Chromium process, from start to exit.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How to start Chromium.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The program. If `None`, the first program of a list that is installed.
    pub executable: Option<PathBuf>,
    pub headless: bool,
    /// Additional arguments, with or without their dashes.
    pub arguments: Vec<String>,
    /// The time limit for starting.
    pub timeout: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            executable: None,
            headless: true,
            arguments: Vec::new(),
            timeout: Duration::from_secs(30),
        }
    }
}

/// The programs to look for, in this order.
const PROGRAMS: [&str; 7] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

const INSTALL: &str = "Install it (Debian and Ubuntu: apt-get install chromium; Fedora: dnf install chromium; macOS: brew \
     install --cask chromium), or set K6_BROWSER_EXECUTABLE_PATH to its path";

/// Arguments for every start: no services that make requests or use CPU time on their own, no throttling of background
/// pages, no dialogs, and one renderer for a page with all its frames.
const ARGUMENTS: &[&str] = &[
    "--remote-debugging-pipe",
    "--remote-debugging-port=0",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-startup-window",
    "--disable-back-forward-cache",
    "--disable-background-networking",
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-features=IsolateOrigins,site-per-process,Translate,OptimizationHints,MediaRouter,AcceptCHFrame,\
     AutofillServerCommunication,CertificateTransparencyComponentUpdater,DestroyProfileOnBrowserClose,HttpsUpgrades",
    "--disable-hang-monitor",
    "--disable-ipc-flooding-protection",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-renderer-backgrounding",
    "--disable-search-engine-choice-screen",
    "--disable-site-isolation-trials",
    "--disable-sync",
    "--enable-automation",
    "--force-color-profile=srgb",
    "--metrics-recording-only",
    "--mute-audio",
    "--password-store=basic",
    "--use-mock-keychain",
];

const HEADLESS: &[&str] = &["--headless", "--hide-scrollbars"];

/// Starts Chromium with a pipe to this process as its DevTools pipe. When this process ends for any reason, the system
/// closes the pipe, Chromium exits, and the shell removes the profile.
const SHELL: &str = r#"folder=$1; shift
"$@" 3<&0 4>/dev/null </dev/null >/dev/null 2>"$folder/stderr"
echo $? >"$folder/ended"
cat >/dev/null
rm -rf "$folder""#;

/// How long Chromium may take to exit before it is killed.
const EXIT_TIMEOUT: Duration = Duration::from_secs(5);
const POLL: Duration = Duration::from_millis(10);

/// A running Chromium. Dropping it ends the process and removes its profile.
#[derive(Debug)]
pub struct Chromium {
    endpoint: String,
    shell: Mutex<Child>,
    folder: TempDir,
}

impl Chromium {
    /// Starts Chromium and waits until it accepts connections.
    ///
    /// # Errors
    /// An error message for users: why it did not start, and what to do.
    pub async fn start(settings: &Settings) -> Result<Chromium, String> {
        let program = program(settings)?;
        let folder = tempfile::Builder::new()
            .prefix("plimsoll-browser-")
            .tempdir()
            .map_err(|error| format!("cannot make a folder for Chromium's profile: {error}"))?;
        let mut command = Command::new("/bin/sh");
        command
            .args(["-c", SHELL, "sh"])
            .arg(folder.path())
            .arg(&program)
            .args(ARGUMENTS)
            .args(if settings.headless { HEADLESS } else { &[] })
            .arg(format!("--user-data-dir={}", folder.path().display()))
            .args(settings.arguments.iter().map(|argument| dashed(argument)))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        // Ctrl-C goes only to this process, which stops gracefully and then ends Chromium.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let shell = command
            .spawn()
            .map_err(|error| format!("cannot run /bin/sh to start Chromium: {error}"))?;
        let mut chromium = Chromium {
            endpoint: String::new(),
            shell: Mutex::new(shell),
            folder,
        };
        let started = Instant::now();
        loop {
            if let Some(endpoint) = endpoint(chromium.folder.path()) {
                chromium.endpoint = endpoint;
                return Ok(chromium);
            }
            if !chromium.is_running() {
                return Err(chromium.failure(&program));
            }
            if started.elapsed() >= settings.timeout {
                return Err(format!(
                    "{} did not accept connections within {} s. Set K6_BROWSER_TIMEOUT to wait longer",
                    program.display(),
                    settings.timeout.as_secs()
                ));
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// The URL for [`crate::Connection::open`].
    pub fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// Whether the process is still running.
    pub fn is_running(&self) -> bool {
        !self.folder.path().join("ended").exists()
    }

    /// Why the process ended while it was starting.
    fn failure(&self, program: &Path) -> String {
        let stderr = fs::read(self.folder.path().join("stderr")).unwrap_or_default();
        let stderr = String::from_utf8_lossy(&stderr);
        let reason = reason(&stderr);
        let hint = match reason.contains("no-sandbox") {
            true => "Run as another user, or set K6_BROWSER_ARGS=no-sandbox",
            false => INSTALL,
        };
        format!(
            "{} ended while starting: {reason}. {hint}",
            program.display()
        )
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let Ok(shell) = self.shell.get_mut() else {
            return;
        };
        // This closes the pipe.
        drop(shell.stdin.take());
        let started = Instant::now();
        while let Ok(None) = shell.try_wait() {
            if started.elapsed() >= EXIT_TIMEOUT {
                #[cfg(unix)]
                if let Some(group) = rustix::process::Pid::from_raw(shell.id() as i32) {
                    let _ =
                        rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
                }
                let _ = shell.kill();
                let _ = shell.wait();
                return;
            }
            std::thread::sleep(POLL);
        }
    }
}

/// The program to run.
fn program(settings: &Settings) -> Result<PathBuf, String> {
    if let Some(path) = &settings.executable {
        return match path.is_file() {
            true => Ok(path.clone()),
            false => Err(format!(
                "K6_BROWSER_EXECUTABLE_PATH names {}, which is not a file. {INSTALL}",
                path.display()
            )),
        };
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    for name in PROGRAMS {
        if Path::new(name).is_absolute() {
            if Path::new(name).is_file() {
                return Ok(PathBuf::from(name));
            }
            continue;
        }
        for folder in std::env::split_paths(&folders) {
            let path = folder.join(name);
            if path.is_file() {
                return Ok(path);
            }
        }
    }
    Err(format!(
        "k6/browser needs Chromium or Chrome, and neither is installed. {INSTALL}"
    ))
}

/// Adds missing dashes: `no-sandbox` becomes `--no-sandbox`.
fn dashed(argument: &str) -> String {
    match argument.starts_with('-') {
        true => argument.to_owned(),
        false => format!("--{argument}"),
    }
}

/// The address from the file that Chromium writes when it accepts connections. The first line is the port, the second
/// is the path.
fn endpoint(folder: &Path) -> Option<String> {
    let text = fs::read_to_string(folder.join("DevToolsActivePort")).ok()?;
    let (port, path) = text.split_once('\n')?;
    let port: u16 = port.parse().ok()?;
    let path = path.trim_end();
    path.starts_with("/devtools/browser/")
        .then(|| format!("ws://127.0.0.1:{port}{path}"))
}

/// The line of Chromium's stderr that explains why it ended.
fn reason(stderr: &str) -> String {
    let lines = || {
        stderr
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
    };
    let explains = |line: &&str| {
        [
            "no-sandbox",
            "cannot open shared object",
            "Missing X server",
            "FATAL",
            "not found",
        ]
        .iter()
        .any(|word| line.contains(word))
    };
    match lines().find(explains).or_else(|| lines().next_back()) {
        // The message follows "[process:thread:time:SEVERITY:file(line)] ".
        Some(line) => match line.split_once("] ") {
            Some((_, text)) if line.starts_with('[') => text.trim_end_matches('.').to_owned(),
            _ => line.trim_end_matches('.').to_owned(),
        },
        None => "it printed no reason".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_endpoint_is_read_once_the_file_is_complete() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(endpoint(folder.path()), None);
        let file = folder.path().join("DevToolsActivePort");
        for (text, wanted) in [
            ("", None),
            ("4711", None),
            ("4711\n/devt", None),
            (
                "4711\n/devtools/browser/a-b",
                Some("ws://127.0.0.1:4711/devtools/browser/a-b"),
            ),
            ("x\n/devtools/browser/a", None),
        ] {
            fs::write(&file, text).unwrap();
            assert_eq!(endpoint(folder.path()).as_deref(), wanted, "{text:?}");
        }
    }

    #[test]
    fn missing_dashes_are_added_to_arguments() {
        assert_eq!(dashed("no-sandbox"), "--no-sandbox");
        assert_eq!(dashed("--no-sandbox"), "--no-sandbox");
        assert_eq!(dashed("window-size=1,2"), "--window-size=1,2");
    }

    #[test]
    fn the_reason_is_the_line_that_explains() {
        let stderr = "[1:1:0/0:ERROR:bus.cc(1)] Failed to connect to the bus\n\
                      [1:1:0/0:ERROR:zygote.cc(1)] Running as root without --no-sandbox is not supported.\nother\n";
        assert_eq!(
            reason(stderr),
            "Running as root without --no-sandbox is not supported"
        );
        assert_eq!(reason("first\nlast\n"), "last");
        assert_eq!(reason(""), "it printed no reason");
    }

    #[tokio::test]
    async fn a_program_that_ends_at_once_is_explained() {
        let settings = Settings {
            executable: Some("/bin/false".into()),
            ..Settings::default()
        };
        let error = Chromium::start(&settings).await.unwrap_err();
        assert!(
            error.starts_with("/bin/false ended while starting"),
            "{error}"
        );
        assert!(error.contains("apt-get install chromium"), "{error}");
    }

    #[tokio::test]
    async fn a_missing_program_is_explained() {
        let settings = Settings {
            executable: Some("/none/chromium".into()),
            ..Settings::default()
        };
        let error = Chromium::start(&settings).await.unwrap_err();
        assert!(
            error.contains("/none/chromium, which is not a file"),
            "{error}"
        );
    }

    /// A program that never accepts connections and exits only when its pipe is closed.
    #[cfg(unix)]
    #[tokio::test]
    async fn a_start_that_takes_too_long_leaves_nothing_behind() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("slow");
        let shown = folder.path().join("profile");
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\necho \"${{last#--user-data-dir=}}\" >{}\ncat <&3\n",
            shown.display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let settings = Settings {
            executable: Some(path),
            timeout: Duration::from_millis(300),
            ..Settings::default()
        };
        let error = Chromium::start(&settings).await.unwrap_err();
        assert!(error.contains("K6_BROWSER_TIMEOUT"), "{error}");
        let profile = fs::read_to_string(shown).unwrap();
        assert!(profile.contains("plimsoll-browser-"), "{profile}");
        assert!(!Path::new(profile.trim()).exists(), "{profile}");
    }
}
