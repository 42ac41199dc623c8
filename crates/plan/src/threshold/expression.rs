//! `method operator number`.

use std::fmt;

use crate::error::{Fault, excerpt};

/// A condition on one value of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expression {
    pub method: Method,
    pub operator: Operator,
    /// The bound, in the metric's unit: times in milliseconds, rates as fractions of 1.
    pub value: f64,
}

impl Expression {
    /// Parses `p(95)<500`, `rate > 0.99`, `count==0`.
    ///
    /// # Errors
    /// If a part is missing or invalid. The message contains the format.
    pub fn parse(text: &str) -> Result<Expression, Fault> {
        const FORM: &str = "write a method, an operator and a number, such as \"p(95)<500\"";
        let output = excerpt(text);
        // Try longer operators first, because some contain others.
        let found = Operator::WRITTEN
            .iter()
            .find_map(|(sign, operator)| Some((text.split_once(sign)?, *operator)));
        let Some(((method, value), operator)) = found else {
            return Err(Fault::at(
                "",
                format!(
                    "the threshold \"{output}\" has no comparison operator (<=, <, >=, >, ===, ==, !=): {FORM}"
                ),
            ));
        };
        let method = Method::parse(method.trim()).map_err(|message| {
            Fault::at("", format!("the threshold \"{output}\" {message}; {FORM}"))
        })?;
        let value = match value.trim().parse::<f64>() {
            Ok(value) if !value.is_nan() => value,
            _ => {
                return Err(Fault::at(
                    "",
                    format!(
                        "the threshold \"{output}\" compares with \"{}\", which is not a number: {FORM}",
                        excerpt(value.trim())
                    ),
                ));
            }
        };
        Ok(Expression {
            method,
            operator,
            value,
        })
    }

    /// Whether a measured value meets the condition. NaN never does.
    pub fn holds(&self, measured: f64) -> bool {
        match self.operator {
            Operator::Less => measured < self.value,
            Operator::LessOrEqual => measured <= self.value,
            Operator::Greater => measured > self.value,
            Operator::GreaterOrEqual => measured >= self.value,
            Operator::Equal => measured == self.value,
            Operator::NotEqual => !measured.is_nan() && measured != self.value,
        }
    }
}

/// The value of a metric that a threshold uses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    Count,
    Rate,
    Value,
    Avg,
    Min,
    Max,
    Med,
    /// The percentile of `p(95)`, from 0 to 100.
    Percentile(f64),
}

impl Method {
    fn parse(text: &str) -> Result<Method, String> {
        Ok(match text {
            "count" => Method::Count,
            "rate" => Method::Rate,
            "value" => Method::Value,
            "avg" => Method::Avg,
            "min" => Method::Min,
            "max" => Method::Max,
            "med" => Method::Med,
            other if other.starts_with("p(") => Method::Percentile(
                percentile(other).ok_or("has a percentile that is not a number from 0 to 100")?,
            ),
            "" => return Err("has no method before the operator".to_owned()),
            other => {
                let known = ["count", "rate", "value", "avg", "min", "max", "med", "p(N)"];
                let mut message = format!("has the unknown method \"{}\"", excerpt(other));
                if let Some(meant) = plimsoll_units::nearest(other, known) {
                    message.push_str(&format!(", did you mean \"{meant}\"?"));
                }
                return Err(message);
            }
        })
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Method::Count => f.write_str("count"),
            Method::Rate => f.write_str("rate"),
            Method::Value => f.write_str("value"),
            Method::Avg => f.write_str("avg"),
            Method::Min => f.write_str("min"),
            Method::Max => f.write_str("max"),
            Method::Med => f.write_str("med"),
            Method::Percentile(percent) => write!(f, "p({percent})"),
        }
    }
}

/// The number in `p(99.9)`, if it is between 0 and 100.
pub(crate) fn percentile(text: &str) -> Option<f64> {
    let number = text.strip_prefix("p(")?.strip_suffix(')')?;
    let percent: f64 = number.trim().parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent)
}

/// A comparison operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    /// `==` and `===`.
    Equal,
    NotEqual,
}

impl Operator {
    /// The operators, in the order in which they are tried.
    const WRITTEN: [(&'static str, Operator); 7] = [
        ("<=", Operator::LessOrEqual),
        ("<", Operator::Less),
        (">=", Operator::GreaterOrEqual),
        (">", Operator::Greater),
        ("===", Operator::Equal),
        ("==", Operator::Equal),
        ("!=", Operator::NotEqual),
    ];
}

/// The kind of a metric. It determines the values of the metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    Counter,
    Gauge,
    Rate,
    Trend,
}

impl MetricKind {
    /// The values that thresholds can use, in their syntax.
    pub const fn methods(self) -> &'static [&'static str] {
        match self {
            MetricKind::Counter => &["count", "rate"],
            MetricKind::Gauge => &["value"],
            MetricKind::Rate => &["rate"],
            MetricKind::Trend => &["avg", "min", "max", "med", "p(N)"],
        }
    }

    pub(crate) fn has(self, method: Method) -> bool {
        match self {
            MetricKind::Counter => matches!(method, Method::Count | Method::Rate),
            MetricKind::Gauge => matches!(method, Method::Value),
            MetricKind::Rate => matches!(method, Method::Rate),
            MetricKind::Trend => matches!(
                method,
                Method::Avg | Method::Min | Method::Max | Method::Med | Method::Percentile(_)
            ),
        }
    }
}

impl fmt::Display for MetricKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            MetricKind::Counter => "counter",
            MetricKind::Gauge => "gauge",
            MetricKind::Rate => "rate",
            MetricKind::Trend => "trend",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> (Method, Operator, f64) {
        let e = Expression::parse(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        (e.method, e.operator, e.value)
    }

    #[test]
    fn reads_every_operator_and_method() {
        assert_eq!(
            read("p(95)<500"),
            (Method::Percentile(95.0), Operator::Less, 500.0)
        );
        assert_eq!(
            read(" count  <=  1 "),
            (Method::Count, Operator::LessOrEqual, 1.0)
        );
        assert_eq!(
            read("rate>=0.99"),
            (Method::Rate, Operator::GreaterOrEqual, 0.99)
        );
        assert_eq!(read("value>-5"), (Method::Value, Operator::Greater, -5.0));
        assert_eq!(read("avg===1e3"), (Method::Avg, Operator::Equal, 1000.0));
        assert_eq!(read("min==.5"), (Method::Min, Operator::Equal, 0.5));
        assert_eq!(read("max!=5."), (Method::Max, Operator::NotEqual, 5.0));
        assert_eq!(read("med<+5"), (Method::Med, Operator::Less, 5.0));
        assert_eq!(
            read("p(99.99)<1"),
            (Method::Percentile(99.99), Operator::Less, 1.0)
        );
    }

    #[test]
    fn refuses_malformed_input() {
        for text in [
            "",
            "x",
            "count",
            "count<",
            "<5",
            "count=1",
            "count=>1",
            "count<0x10",
            "count<1ms",
            "count<1 count<2",
            "p95<1",
            "P(95)<1",
            "p(101)<1",
            "p(-1)<1",
            "p(x)<1",
            "p()<1",
            "count<NaN",
            "count<1_000",
            "p(95)<1 && avg<2",
        ] {
            assert!(Expression::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_typing_error_gets_a_suggestion() {
        let message = Expression::parse("agv<5").unwrap_err().to_string();
        assert!(message.contains("\"avg\""), "{message}");
    }

    #[test]
    fn compares() {
        let holds = |text: &str, measured| Expression::parse(text).unwrap().holds(measured);
        assert!(holds("avg<5", 4.9) && !holds("avg<5", 5.0));
        assert!(holds("avg<=5", 5.0) && !holds("avg<=5", 5.1));
        assert!(holds("avg>5", 5.1) && !holds("avg>5", 5.0));
        assert!(holds("avg>=5", 5.0) && !holds("avg>=5", 4.9));
        assert!(holds("avg==5", 5.0) && !holds("avg==5", 5.1));
        assert!(holds("avg!=5", 5.1) && !holds("avg!=5", 5.0));
        assert!(!holds("avg!=5", f64::NAN) && !holds("avg<5", f64::NAN));
    }

    proptest! {
        #[test]
        fn any_text_gives_a_value_or_an_error(text in ".{0,60}") {
            let _ = Expression::parse(&text);
        }
    }
}
