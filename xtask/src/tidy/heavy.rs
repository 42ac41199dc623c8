//! The crates that may use large dependencies: one crate each, so that their build time and types stay
//! there.

use super::Finding;
use super::manifest::Manifest;

/// Packages, the crates whose product code may use them, and the reason.
const HEAVY: &[(&[&str], &[&str], &str)] = &[
    (
        &["rquickjs", "plimsoll-quickjs-sys", "corosensei"],
        &["quickjs"],
        "JavaScript lives in `quickjs`",
    ),
    (
        &["oxc_parser", "oxc_ast", "oxc_allocator", "oxc_span"],
        &["k6"],
        "TypeScript is stripped in `k6`",
    ),
    (&["html5ever"], &["k6"], "pages are read in `k6`"),
    (
        &["serde-saphyr", "roxmltree"],
        &["import"],
        "files of other tools are read in `import`",
    ),
    (
        &[
            "rustls",
            "tokio-rustls",
            "ring",
            "rustls-pki-types",
            "webpki-roots",
        ],
        &["net"],
        "TLS lives in `net`",
    ),
    (
        &["rusqlite", "libsqlite3-sys"],
        &["results", "sql"],
        "the store of runs lives in `results`, databases of scripts in `sql`",
    ),
    (
        &["tokio-postgres"],
        &["sql"],
        "databases of scripts live in `sql`",
    ),
    (&["clap"], &["cli"], "the command line lives in `cli`"),
    (
        &["httparse"],
        &["http", "live"],
        "protocols live in `http`; `live` has a server of its own",
    ),
    (
        &["h2"],
        &[],
        "HTTP/2 is our own (`http2`); h2 serves as a server in tests",
    ),
    (
        &["quinn", "quinn-proto", "h3", "h3-quinn"],
        &["http3"],
        "QUIC lives in `http3`, its TLS settings in `net`",
    ),
    (
        &["rcgen"],
        &["certs"],
        "certificates for tests are made in `certs`",
    ),
    (
        &["rsa"],
        &["certs", "k6", "sql"],
        "RSA keys belong to certificates for tests (`certs`), to WebCrypto (`k6`) and to passwords of MySQL (`sql`)",
    ),
    (
        &["p256", "p384", "p521", "x509-parser", "redis"],
        &["k6"],
        "elliptic curves, certificates and Redis of scripts are in `k6`",
    ),
    (
        &["async-nats"],
        &["fleet"],
        "messages between agents are sent in `fleet`",
    ),
    (
        &["prost", "snap", "parquet"],
        &["exporters"],
        "messages for monitoring systems are made in `exporters`",
    ),
    (
        &["prost-reflect", "protox"],
        &["grpc"],
        "protobuf is read at run time in `grpc`",
    ),
    (
        &["hyper", "hyper-util", "axum", "tonic"],
        &[],
        "a server library belongs to what is measured, never to the generator",
    ),
    (
        &["async-std", "smol", "openssl", "native-tls", "reqwest"],
        &[],
        "there is tokio and rustls, and a client of our own",
    ),
];

/// Crates that are not part of the product may use any.
const FREE: &[&str] = &[
    "testkit",
    "testground",
    "serving",
    "serve",
    "zanzibar",
    "statuslist",
    "timezone",
    "orders",
    "gateway",
    "systems-fuzz",
    "bench",
];

/// A large dependency may only be used by its crate. Tests are exempt.
pub fn check(manifests: &[Manifest]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for manifest in manifests
        .iter()
        .filter(|manifest| !FREE.contains(&manifest.short_name()))
    {
        for dependency in manifest
            .dependencies
            .iter()
            .filter(|dependency| !dependency.dev)
        {
            let Some((_, crates, reason)) = HEAVY
                .iter()
                .find(|(packages, ..)| packages.contains(&dependency.package.as_str()))
            else {
                continue;
            };
            if !crates.contains(&manifest.short_name()) {
                findings.push(Finding::new(
                    &manifest.path,
                    manifest.line_of(&dependency.package),
                    format!(
                        "'{}' may not depend on {}: {reason}",
                        manifest.short_name(),
                        dependency.package
                    ),
                ));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::manifest::Dependency;
    use super::*;

    fn uses(package: &str, heavy: &str, dev: bool) -> Vec<Finding> {
        check(&[Manifest {
            package: package.into(),
            path: "Cargo.toml".into(),
            dependencies: vec![Dependency {
                package: heavy.into(),
                renamed: None,
                dev,
                ours: false,
            }],
            text: String::new(),
        }])
    }

    #[test]
    fn at_home_it_passes_and_elsewhere_it_is_found() {
        assert_eq!(uses("plimsoll-net", "rustls", false), []);
        assert_eq!(uses("plimsoll-http", "rustls", false).len(), 1);
        assert_eq!(uses("plimsoll-http", "hyper", true), []);
        assert_eq!(uses("plimsoll-serve", "hyper", false), []);
        assert_eq!(uses("plimsoll", "clap", false), []);
        assert_eq!(uses("plimsoll-script", "reqwest", false).len(), 1);
    }
}
