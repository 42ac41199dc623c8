//! Addresses of MySQL databases, with the syntax of Go's driver.

/// Whether a connection is encrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Security {
    /// Without encryption.
    Clear,
    /// Encrypted if the server supports it, with any certificate.
    Preferred,
    /// Always encrypted, with any certificate.
    Unverified,
    /// Always encrypted, with a valid certificate.
    Verified,
}

/// A database: `user:password@tcp(host:port)/name?parameters`.
#[derive(Clone, PartialEq, Eq)]
pub struct Address {
    pub user: String,
    pub password: String,
    pub host: String,
    pub port: u16,
    pub database: String,
    pub security: Security,
    /// Dates become JavaScript dates instead of strings.
    pub parses_time: bool,
    /// A query may contain several statements.
    pub has_many_statements: bool,
    /// The row count of a change includes rows that already had the new values.
    pub counts_found_rows: bool,
    /// The statement that sets the session variables, if there are any.
    pub setup: Option<String>,
}

const DEFAULT_PORT: u16 = 3306;

/// Parameters of Go's driver that have no effect here.
const IGNORED_PARAMETERS: &[&str] = &[
    "allowAllFiles",
    "allowCleartextPasswords",
    "allowFallbackToPlaintext",
    "allowNativePasswords",
    "allowOldPasswords",
    "checkConnLiveness",
    "columnsWithAlias",
    "compress",
    "connectionAttributes",
    "interpolateParams",
    "maxAllowedPacket",
    "readTimeout",
    "rejectReadOnly",
    "timeout",
    "writeTimeout",
];

impl Address {
    /// Whether any server certificate is accepted.
    pub fn accepts_any_certificate(&self) -> bool {
        matches!(self.security, Security::Preferred | Security::Unverified)
    }

    /// Parses the address of a database, as in k6's driver.
    ///
    /// # Errors
    /// A message with the malformed part and the correct syntax. The message never contains the password.
    pub fn parse(text: &str) -> Result<Address, String> {
        let invalid = |what: &str| {
            format!(
                "invalid address of a MySQL database: {what}; write USER:PASSWORD@tcp(HOST:PORT)/DATABASE"
            )
        };
        let (place, rest) = text
            .rsplit_once('/')
            .ok_or_else(|| invalid("there is no / before the name of the database"))?;
        let (database, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (account, place) = place.rsplit_once('@').unwrap_or(("", place));
        let (user, password) = account.split_once(':').unwrap_or((account, ""));
        let (host, port) = parse_server(place).map_err(|what| invalid(&what))?;
        let mut address = Address {
            user: user.to_owned(),
            password: password.to_owned(),
            host,
            port,
            database: percent_decode(database)
                .ok_or_else(|| invalid("invalid escape in the name of the database"))?,
            security: Security::Clear,
            parses_time: false,
            has_many_statements: false,
            counts_found_rows: false,
            setup: None,
        };
        let mut variables = Vec::new();
        for parameter in parameters.split('&').filter(|text| !text.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
            let value = percent_decode(value)
                .ok_or_else(|| invalid(&format!("invalid escape in the parameter {name}")))?;
            variables.extend(address.set(name, &value).map_err(|what| invalid(&what))?);
        }
        if !variables.is_empty() {
            address.setup = Some(format!("SET {}", variables.join(", ")));
        }
        Ok(address)
    }

    /// Sets a parameter. Names that are not parameters of the driver are session variables.
    fn set(&mut self, name: &str, value: &str) -> Result<Option<String>, String> {
        let parse_bool = || match value {
            "1" | "true" | "TRUE" | "True" => Ok(true),
            "0" | "false" | "FALSE" | "False" => Ok(false),
            _ => Err(format!("{name} must be true or false, not {value}")),
        };
        match name {
            "tls" => {
                self.security = match value {
                    "preferred" => Security::Preferred,
                    "skip-verify" => Security::Unverified,
                    _ => match parse_bool() {
                        Ok(true) => Security::Verified,
                        Ok(false) => Security::Clear,
                        Err(_) => {
                            return Err(format!(
                                "tls must be true, false, skip-verify or preferred, not {value}"
                            ));
                        }
                    },
                }
            }
            "parseTime" => self.parses_time = parse_bool()?,
            "multiStatements" => self.has_many_statements = parse_bool()?,
            "clientFoundRows" => self.counts_found_rows = parse_bool()?,
            "loc" if value == "UTC" => {}
            "loc" => return Err(format!("loc must be UTC, not {value}")),
            // Uses the first one of a list. Go's driver tries the next ones if the server does not know it.
            "charset" => {
                let name = value.split(',').next().unwrap_or_default();
                return check_name(name).map(|name| Some(format!("NAMES {name}")));
            }
            "collation" => {
                return check_name(value)
                    .map(|name| Some(format!("collation_connection = {name}")));
            }
            _ if IGNORED_PARAMETERS.contains(&name) => {}
            _ => {
                // As in Go's driver, a string value already has quotes.
                return check_name(name).map(|name| Some(format!("{name} = {value}")));
            }
        }
        Ok(None)
    }
}

/// Checks that a name has no characters that could end a statement.
fn check_name(name: &str) -> Result<&str, String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    match !name.is_empty() && name.chars().all(is_word) {
        true => Ok(name),
        false => Err(format!("{name:?} is not a valid name")),
    }
}

/// The host and the port in `tcp(host:port)`.
fn parse_server(place: &str) -> Result<(String, u16), String> {
    let (protocol, place) = match place.split_once('(') {
        None => (place, ""),
        Some((protocol, rest)) => {
            let inner = rest.strip_suffix(')').ok_or("the bracket is not closed")?;
            (protocol, inner)
        }
    };
    if !matches!(protocol, "" | "tcp" | "tcp4" | "tcp6") {
        return Err(format!("the protocol {protocol:?} is not supported"));
    }
    if place.is_empty() {
        return Ok(("127.0.0.1".to_owned(), DEFAULT_PORT));
    }
    let parse_port = |text: &str| text.parse().map_err(|_| format!("invalid port {text:?}"));
    // An IPv6 address is in brackets.
    if let Some((host, port)) = place
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        return match port.strip_prefix(':') {
            Some(port) => Ok((host.to_owned(), parse_port(port)?)),
            None if port.is_empty() => Ok((host.to_owned(), DEFAULT_PORT)),
            None => Err(format!("invalid port {port:?}")),
        };
    }
    match place.split_once(':') {
        Some((host, port)) => Ok((host.to_owned(), parse_port(port)?)),
        None => Ok((place.to_owned(), DEFAULT_PORT)),
    }
}

/// Decodes percent escapes. `None` if one of them is malformed.
fn percent_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            let digits = std::str::from_utf8(digits).ok()?;
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after;
        } else {
            bytes.push(*first);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_parsed() {
        let address = Address::parse("root:a:b@c/@tcp(db.example:3307)/shop%20a").unwrap();
        assert_eq!(
            (address.user.as_str(), address.password.as_str()),
            ("root", "a:b@c/")
        );
        assert_eq!((address.host.as_str(), address.port), ("db.example", 3307));
        assert_eq!(address.database, "shop a");
        assert_eq!((address.security, address.setup), (Security::Clear, None));

        let address = Address::parse(
            "u@/d?tls=skip-verify&parseTime=true&multiStatements=1&timeout=5s&charset=utf8mb4,utf8&sql_mode=%27ANSI%27",
        )
        .unwrap();
        assert_eq!(
            (address.host.as_str(), address.port),
            ("127.0.0.1", DEFAULT_PORT)
        );
        assert_eq!(address.security, Security::Unverified);
        assert!(address.parses_time && address.has_many_statements);
        assert_eq!(
            address.setup.as_deref(),
            Some("SET NAMES utf8mb4, sql_mode = 'ANSI'")
        );
        for (place, expected) in [
            ("tcp([::1]:1)", ("::1", 1)),
            ("tcp(h)", ("h", DEFAULT_PORT)),
            ("tcp", ("127.0.0.1", DEFAULT_PORT)),
        ] {
            let address = Address::parse(&format!("u@{place}/")).unwrap();
            assert_eq!((address.host.as_str(), address.port), expected);
        }
    }

    #[test]
    fn malformed_addresses_are_refused_without_the_password() {
        for text in [
            "secret@tcp(h:1)",
            "u:secret@tcp(h:x)/d",
            "u:secret@tcp(h/d",
            "u:secret@unix(h)/d",
            "u:secret@tcp(h)/d?tls=maybe",
            "u:secret@tcp(h)/d?charset=a;b",
            "u:secret@tcp(h)/d?a b=1",
            "u:secret@tcp(h)/%zz",
            "u:secret@tcp(h)/d?parseTime=yes",
        ] {
            let Err(error) = Address::parse(text) else {
                panic!("{text} was accepted");
            };
            assert!(error.starts_with("invalid address"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
