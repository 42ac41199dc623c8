//! Configures and runs an installed NATS server.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use plimsoll_certs::{KeyKind, Name, Order, USUAL_NAMES, make};

use crate::access::{Access, Role, state_folder, write_private};
use crate::random;

/// How to install the server.
const INSTALL_HINT: &str = "install nats-server (go install github.com/nats-io/nats-server/v2@latest, the package nats-server of your system, or the container nats), or set PLIMSOLL_NATS_SERVER to its path";
/// The validity period of the generated certificate.
const CERTIFICATE_LIFETIME: Duration = Duration::from_secs(365 * 24 * 3600);

/// Settings of a server for agents on several machines.
pub struct ServeSettings {
    /// The address to listen on.
    pub listen: std::net::SocketAddr,
    /// Names and addresses under which agents reach this machine. The files for agents contain the first one.
    pub hosts: Vec<String>,
    /// The directory for the configuration and the files with credentials.
    pub folder: Option<PathBuf>,
    /// Whether to write the files without starting the server.
    pub is_only_written: bool,
    /// Receives messages for the user, one sentence each.
    pub notify: Box<dyn Fn(&str)>,
}

/// Writes the configuration of a server and the files with credentials, then runs the server until it exits.
///
/// # Errors
/// If the files cannot be written, or if the server is missing or fails.
pub fn run(settings: &ServeSettings) -> Result<(), String> {
    let folder = match &settings.folder {
        Some(folder) => folder.clone(),
        None => state_folder()?,
    };
    std::fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
    let folder =
        std::path::absolute(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let program = program()?;
    let is_public = !settings.listen.ip().is_loopback();
    let host = match settings.hosts.first() {
        Some(host) => host.clone(),
        None if settings.listen.ip().is_unspecified() => {
            return Err(
                "set --host to a name or address under which agents reach this machine".to_owned(),
            );
        }
        None => settings.listen.ip().to_string(),
    };
    let tls = match is_public {
        true => Some(Tls::make(&folder, settings)?),
        false => None,
    };
    let passwords =
        [random::bytes::<16>()?, random::bytes::<16>()?].map(|bytes| random::hex(&bytes));
    let scheme = if tls.is_some() { "tls" } else { "nats" };
    let host = if host.contains(':') {
        format!("[{host}]")
    } else {
        host
    };
    for (role, password) in [Role::Coordinator, Role::Agent].into_iter().zip(&passwords) {
        let access = Access {
            address: format!("{scheme}://{host}:{}", settings.listen.port()),
            user: role.user().to_owned(),
            password: Some(password.clone()),
            ca: tls.as_ref().map(|tls| tls.authority.clone()),
        };
        access.write(&folder.join(format!("{}.json", role.user())))?;
    }
    let [coordinator, agent] = &passwords;
    let mut text = configuration(&settings.listen.to_string(), coordinator, agent);
    if let Some(tls) = &tls {
        text.push_str(&tls.configuration());
    }
    let config = folder.join("nats.conf");
    write_private(&config, &text)?;
    let file = folder.join("agent.json");
    (settings.notify)(&format!(
        "the NATS server's configuration is {}",
        config.display()
    ));
    (settings.notify)(&format!(
        "copy {} to every machine, and run this on each: plimsoll fleet agent agent.json",
        file.display()
    ));
    if settings.is_only_written {
        return Ok(());
    }
    let status = serve(&program, &config)?;
    match status.success() {
        true => Ok(()),
        false => Err(format!("{} ended with {status}", program.display())),
    }
}

/// Replaces this process, so that signals reach the server.
#[cfg(unix)]
fn serve(program: &Path, config: &Path) -> Result<ExitStatus, String> {
    use std::os::unix::process::CommandExt as _;
    let error = Command::new(program).arg("-c").arg(config).exec();
    Err(format!("cannot start {}: {error}", program.display()))
}

#[cfg(not(unix))]
fn serve(program: &Path, config: &Path) -> Result<ExitStatus, String> {
    let ran = Command::new(program).arg("-c").arg(config).status();
    ran.map_err(|error| format!("cannot start {}: {error}", program.display()))
}

/// A certificate for the server, and the authority that signed it.
struct Tls {
    authority: String,
    certificate: PathBuf,
    key: PathBuf,
}

impl Tls {
    fn make(folder: &Path, settings: &ServeSettings) -> Result<Tls, String> {
        let mut names: Vec<String> = USUAL_NAMES.map(str::to_owned).into();
        names.extend(settings.hosts.iter().cloned());
        if !settings.listen.ip().is_unspecified() {
            names.push(settings.listen.ip().to_string());
        }
        names.sort();
        names.dedup();
        let names = names.iter().map(|name| Name::parse(name));
        let made = make(&Order {
            names: names.collect::<Result<_, _>>()?,
            client: "plimsoll".to_owned(),
            key: KeyKind::EcdsaP256,
            lifetime: CERTIFICATE_LIFETIME,
        })?;
        let tls = Tls {
            authority: made.authority.certificate,
            certificate: folder.join("server.pem"),
            key: folder.join("server.key"),
        };
        write_private(&tls.certificate, &made.server.certificate)?;
        write_private(&tls.key, &made.server.key)?;
        Ok(tls)
    }

    fn configuration(&self) -> String {
        format!(
            "tls {{\n  cert_file: {:?}\n  key_file: {:?}\n}}\n",
            self.certificate, self.key
        )
    }
}

/// The path of the server program.
///
/// # Errors
/// If it is not installed.
pub fn program() -> Result<PathBuf, String> {
    let program = std::env::var_os("PLIMSOLL_NATS_SERVER").filter(|name| !name.is_empty());
    let program = program.map_or_else(|| PathBuf::from("nats-server"), PathBuf::from);
    find_program(&program)
        .ok_or_else(|| format!("{} was not found: {INSTALL_HINT}", program.display()))
}

/// The path of a program, on the PATH or in the directories where nats-server is installed: Debian's package uses a
/// directory for administrators, and Go has its own directory.
fn find_program(program: &Path) -> Option<PathBuf> {
    if program.components().count() > 1 {
        return program.is_file().then(|| program.to_owned());
    }
    let folder = |name: &str, below: &str| Some(Path::new(&std::env::var_os(name)?).join(below));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let others = [
        folder("GOBIN", ""),
        folder("GOPATH", "bin"),
        folder("HOME", "go/bin"),
        Some(PathBuf::from("/usr/sbin")),
        Some(PathBuf::from("/usr/local/sbin")),
    ];
    let others = others.into_iter().flatten().filter(|one| one.is_absolute());
    let folders = std::env::split_paths(&path).chain(others);
    let mut files = folders.map(|folder| folder.join(program));
    files.find(|file| file.is_file())
}

/// The configuration of a server with a user for each role. Agents can send reports but not commands, and cannot read
/// other agents' reports.
pub fn configuration(listen: &str, coordinator: &str, agent: &str) -> String {
    format!(
        r#"listen: "{listen}"
max_payload: 8MB
authorization {{
  users: [
    {{
      user: "coordinator", password: "{coordinator}"
      permissions: {{ publish: "plimsoll.command.>", subscribe: "plimsoll.agent.*" }}
    }}
    {{
      user: "agent", password: "{agent}"
      permissions: {{ publish: "plimsoll.agent.*", subscribe: "plimsoll.command.>" }}
    }}
  ]
}}
"#
    )
}
