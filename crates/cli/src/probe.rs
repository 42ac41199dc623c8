//! `plimsoll probe`: the way to a server, measured.

use std::path::Path;

use plimsoll_net::{ClientCertificate, TlsSettings};
use plimsoll_probe::{Plan, Report};

use crate::args::ProbeArgs;
use crate::exit::Exit;
use crate::talk::{complain, put};
use plimsoll_verdict::with_hint;

/// Measures and prints.
pub fn probe(args: &ProbeArgs) -> Exit {
    match run(args) {
        Ok(report) => {
            let text = if args.json {
                format!("{:#}\n", report.json())
            } else {
                report.text()
            };
            put(text.as_bytes());
            Exit::SUCCESS
        }
        Err(text) => {
            complain(&with_hint(&text));
            Exit::GENERIC
        }
    }
}

fn run(args: &ProbeArgs) -> Result<Report, String> {
    let plan = Plan {
        address: args.address.clone(),
        repeats: args.repeats,
        timeout: args.timeout,
        tls: args.tls.then(|| tls(args)).transpose()?,
        path: args.path.clone(),
        throughput_port: args.throughput,
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("cannot start an event loop: {error}"))?;
    tokio::task::LocalSet::new().block_on(&runtime, plimsoll_probe::probe(&plan))
}

fn tls(args: &ProbeArgs) -> Result<TlsSettings, String> {
    let read = |flag: &str, path: &Path| {
        plimsoll_script::read_file(path)
            .map_err(|error| format!("{flag} {}: cannot read it: {error}", path.display()))
    };
    let mut settings = TlsSettings {
        insecure_skip_verify: args.insecure,
        ..TlsSettings::default()
    };
    if let Some(path) = &args.ca {
        settings.extra_roots.push(read("--ca", path)?);
    }
    if let (Some(certificate), Some(key)) = (&args.cert, &args.key) {
        settings.client_certificates.push(ClientCertificate {
            domains: Vec::new(),
            certificate_pem: read("--cert", certificate)?,
            key_pem: read("--key", key)?,
        });
    }
    settings.check()?;
    Ok(settings)
}
