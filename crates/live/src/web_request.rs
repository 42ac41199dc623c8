//! Finds out which page is requested: by `--web`, by k6's `--out web-dashboard`, or by k6's variables.

use crate::web_address::WebAddress;

/// k6's variables, which have the prefix K6_WEB_DASHBOARD.
const PREFIX: &str = "K6_WEB_DASHBOARD";

/// Where a page can be requested, except in variables.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSources<'a> {
    /// The value of `--web`.
    pub flag: Option<&'a str>,
    /// The argument of `--out web-dashboard`.
    pub output: Option<&'a str>,
    /// Whether the config file has `"webDashboard": true`.
    pub is_configured: bool,
}

/// A requested page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WebRequest {
    pub address: WebAddress,
    /// The flag or variable that requested it, for messages.
    pub flag: &'static str,
    /// Whether to open it in a browser.
    pub is_opened: bool,
}

impl PageSources<'_> {
    /// Whether a page is requested. `variable` is the value of K6_WEB_DASHBOARD.
    ///
    /// # Errors
    /// If the variable is neither true nor false.
    pub fn request_page(&self, variable: Option<&str>) -> Result<bool, String> {
        let by_variable = match variable.filter(|value| !value.is_empty()) {
            None => self.is_configured,
            Some(value) => plimsoll_units::boolean::parse(value)
                .ok_or_else(|| format!("{PREFIX}: \"{value}\" is neither true nor false"))?,
        };
        Ok(by_variable || self.flag.is_some() || self.output.is_some())
    }
}

impl WebRequest {
    /// The requested page, if any. `--web` overrides `--out web-dashboard`, which overrides the variables, which override
    /// the config file.
    ///
    /// # Errors
    /// The invalid value, and the correct form.
    pub fn of(
        sources: PageSources<'_>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Option<WebRequest>, String> {
        let PageSources { flag, output, .. } = sources;
        let given = |name: &str| {
            let value = variable(&format!("{PREFIX}{name}"));
            value.filter(|value| !value.is_empty())
        };
        let is_true = |value: Option<String>| {
            value.is_some_and(|value| matches!(&*value.to_lowercase(), "true" | "1" | "t"))
        };
        if !sources.request_page(given("").as_deref())? {
            return Ok(None);
        }
        let mut settings = vec![
            ("host", given("_HOST"), "K6_WEB_DASHBOARD_HOST"),
            ("port", given("_PORT"), "K6_WEB_DASHBOARD_PORT"),
            ("period", given("_PERIOD"), "K6_WEB_DASHBOARD_PERIOD"),
        ];
        let mut is_opened = is_true(given("_OPEN"));
        // k6's form: --out web-dashboard=port=5665&period=2s
        for pair in output
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty())
        {
            let (key, value) = pair.split_once('=').unwrap_or((pair, "true"));
            match key {
                "open" => is_opened = is_true(Some(value.to_owned())),
                "host" => settings.push(("host", Some(value.to_owned()), "--out web-dashboard")),
                "port" => settings.push(("port", Some(value.to_owned()), "--out web-dashboard")),
                "period" => {
                    settings.push(("period", Some(value.to_owned()), "--out web-dashboard"))
                }
                "export" | "report" | "tag" | "tags" | "record" => {}
                other => {
                    return Err(format!(
                        "--out web-dashboard: unknown setting {other}; use host, port, period or open"
                    ));
                }
            }
        }
        let mut address = WebAddress::default().with_token(variable("PLIMSOLL_WEB_TOKEN"));
        for (name, value, from) in settings {
            let Some(value) = value else { continue };
            address = match name {
                "host" => address.with_host(&value),
                // k6 does not serve a page in this case, but other parts of its dashboard may still work.
                "port" if value == "-1" && flag.is_none() => return Ok(None),
                "port" => {
                    let port = value.parse();
                    address.with_port(port.map_err(|_| {
                        format!("{from}: {value} is not a port; use a number from 0 to 65535")
                    })?)
                }
                _ => {
                    let period = plimsoll_units::duration::parse_with_unit(&value);
                    address.with_period(period.map_err(|error| format!("{from}: {error}"))?)
                }
            };
        }
        if let Some(text) = flag.filter(|text| !text.is_empty()) {
            let given = WebAddress::parse(text).map_err(|error| format!("--web {error}"))?;
            address = given
                .with_period(address.period())
                .with_token(variable("PLIMSOLL_WEB_TOKEN"));
        }
        Ok(Some(WebRequest {
            address,
            flag: match (flag, output) {
                (Some(_), _) => "--web",
                (None, Some(_)) => "--out web-dashboard",
                (None, None) if sources.is_configured && given("").is_none() => {
                    "webDashboard in the config file"
                }
                (None, None) => PREFIX,
            },
            is_opened,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(
        flag: Option<&str>,
        output: Option<&str>,
        variables: &[(&str, &str)],
    ) -> Result<Option<WebRequest>, String> {
        let sources = PageSources {
            flag,
            output,
            is_configured: false,
        };
        WebRequest::of(sources, &|name| {
            let mut variables = variables.iter();
            let found = variables.find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn nothing_is_served_unless_requested() {
        assert_eq!(request(None, None, &[]), Ok(None));
        let port = ("K6_WEB_DASHBOARD_PORT", "7");
        assert_eq!(request(None, None, &[port]), Ok(None));
        assert_eq!(
            request(None, None, &[("K6_WEB_DASHBOARD", "false"), port]),
            Ok(None)
        );
    }

    #[test]
    fn a_flag_overrides_an_output_which_overrides_variables() {
        let variables = [
            ("K6_WEB_DASHBOARD", "true"),
            ("K6_WEB_DASHBOARD_PORT", "7"),
            ("K6_WEB_DASHBOARD_HOST", "example.com"),
            ("K6_WEB_DASHBOARD_PERIOD", "5s"),
        ];
        let period = std::time::Duration::from_secs(5);
        let page = |host: &str, port| {
            WebAddress::default()
                .with_host(host)
                .with_port(port)
                .with_period(period)
        };
        let found = request(None, None, &variables).unwrap().unwrap();
        assert_eq!(found.address, page("example.com", 7));
        let found = request(None, Some("port=8&open"), &variables)
            .unwrap()
            .unwrap();
        assert_eq!(found.address, page("example.com", 8));
        assert!(found.is_opened);
        let found = request(Some("9"), Some("port=8"), &variables)
            .unwrap()
            .unwrap();
        assert_eq!(found.address, page("127.0.0.1", 9));
        assert_eq!(found.flag, "--web");
        let found = request(Some(""), None, &[]).unwrap().unwrap();
        assert_eq!(found.address, WebAddress::default());
    }

    #[test]
    fn errors_name_their_location() {
        for (output, variables, part) in [
            (Some("prt=1"), [].as_slice(), "unknown setting prt"),
            (Some("port=x"), &[], "--out web-dashboard: x is not a port"),
            (
                None,
                &[
                    ("K6_WEB_DASHBOARD", "true"),
                    ("K6_WEB_DASHBOARD_PERIOD", "x"),
                ],
                "K6_WEB_DASHBOARD_PERIOD",
            ),
        ] {
            let error = request(None, output, variables).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
