//! `until` of a load: restarts continue until a figure is known precisely enough.

use serde::Serialize;

use super::conclusions::FIGURES;

/// A figure and its required precision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Until {
    /// The figure, such as `latency_p95`.
    pub figure: String,
    /// The distance of the interval's ends from the figure, as a share of the figure: between 0 and 1,
    /// exclusive.
    pub precision: f64,
}

impl Until {
    /// Reads `latency_p95 ±5%`. `+-` is accepted for `±`, and `p95` for `latency_p95`.
    ///
    /// # Errors
    /// A description of the problem, and an example.
    pub fn parse(text: &str) -> Result<Until, String> {
        const EXAMPLE: &str = "write a figure and a precision, such as until = \"latency_p95 ±5%\"";
        let (figure, precision) = text.trim().split_once([' ', '±', '+']).ok_or(EXAMPLE)?;
        let is_quantile = figure.starts_with('p')
            && figure.len() > 1
            && figure.bytes().skip(1).all(|byte| byte.is_ascii_digit());
        let figure = match is_quantile {
            true => format!("latency_{figure}"),
            false => figure.to_owned(),
        };
        if !FIGURES.iter().any(|(known, _)| *known == figure) {
            let names = FIGURES.iter().map(|(known, _)| *known);
            let near = plimsoll_units::nearest(&figure, names)
                .map_or_else(String::new, |near| format!(" (did you mean {near}?)"));
            return Err(format!("unknown figure \"{figure}\"{near}; {EXAMPLE}"));
        }
        let digits = precision.trim_start_matches([' ', '±', '+', '-']);
        let share = digits
            .strip_suffix('%')
            .and_then(|percent| percent.trim().parse::<f64>().ok())
            .map(|percent| percent / 100.0)
            .filter(|share| *share > 0.0 && *share < 1.0)
            .ok_or_else(|| format!("\"{digits}\" is not a precision such as 5%; {EXAMPLE}"))?;
        Ok(Until {
            figure,
            precision: share,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_and_a_precision_are_read() {
        let p95 = Until {
            figure: "latency_p95".to_owned(),
            precision: 0.05,
        };
        for text in [
            "latency_p95 ±5%",
            "p95 ±5%",
            "p95 +-5%",
            "p95±5 %",
            " p95  5%",
        ] {
            assert_eq!(Until::parse(text), Ok(p95.clone()), "{text}");
        }
        let rate = Until::parse("requests_per_second ±2.5%").map(|until| until.precision);
        assert_eq!(rate, Ok(0.025));
    }

    #[test]
    fn errors_are_explained() {
        let wrong = |text: &str| Until::parse(text).expect_err(text);
        assert!(
            wrong("latency_p59 ±5%").contains("latency_p5"),
            "{}",
            wrong("latency_p59 ±5%")
        );
        assert!(wrong("p95").contains("such as until"));
        for text in ["p95 ±5", "p95 ±0%", "p95 ±100%", "p95 ±-"] {
            assert!(wrong(text).contains("not a precision"), "{text}");
        }
    }
}
