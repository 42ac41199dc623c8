//! Sentences whose own figures contradict each other: "27 minutes (3 + 5 + 1 minutes)", "50 × 20 =
//! 900", "9000 requests in 30 s (250/s)".

use super::report_contradiction;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Unit, format_number, format_value, parse_duration, parse_number};
use crate::report::Findings;

static PARTS: Pattern = pattern!(
    r"(?i)\b(\d+(?:\.\d+)?)\s?(hours?|h|minutes?|mins?|m|seconds?|secs?|s)\b([^().=+]{0,40})\(([^()]{3,120})\)"
);
static PART: Pattern = pattern!(
    r"(?i)^[^\d]{0,20}(\d+(?:\.\d+)?)\s?(hours?|h|minutes?|mins?|m|seconds?|secs?|s)\b[^\d]*$"
);

pub fn check_sentence(sentence: &str, line: usize, findings: &mut Findings) {
    if sentence.contains('(') && sentence.contains('+') {
        check_parts(sentence, line, findings);
    }
    if sentence.contains(" = ") {
        check_equation(sentence, line, findings);
    }
    if sentence.contains(" in ") {
        check_rate(sentence, line, findings);
    }
    if sentence.len() < 400 && sentence.contains(['/', 'p', 'P']) {
        check_product(sentence, line, findings);
    }
}

/// One unit of time, in the form that the duration parser accepts.
fn parse_seconds(count: &str, unit: &str) -> Option<f64> {
    let unit = match unit.to_lowercase() {
        unit if unit.starts_with('h') => "h",
        unit if unit.starts_with('m') => "m",
        _ => "s",
    };
    Some(parse_duration(&format!("{count}{unit}"), 0)?.value)
}

/// Checks a total time against its parts in brackets.
fn check_parts(sentence: &str, line: usize, findings: &mut Findings) {
    for found in PARTS.all(sentence).take(8) {
        let group = |at: usize| group(&found, at);
        let listed: Vec<&str> = group(4).split('+').collect();
        if listed.len() < 2 {
            continue;
        }
        let read = |text: &str| {
            let found = PART.first(text)?;
            parse_seconds(found.get(1)?.as_str(), found.get(2)?.as_str())
        };
        let times: Vec<f64> = listed.iter().filter_map(|text| read(text)).collect();
        let Some(claimed) =
            parse_seconds(group(1), group(2)).filter(|_| times.len() == listed.len())
        else {
            continue;
        };
        let sum: f64 = times.iter().sum();
        if sum <= 0.0 || (claimed - sum).abs() <= 0.1 * sum {
            continue;
        }
        // If the total does not match, this may be several runs of that length.
        let runs = claimed / sum;
        let whole = (runs - runs.round()).abs() < 1e-6 && runs >= 2.0;
        if whole && !group(3).to_lowercase().contains("per ") {
            continue;
        }
        report_contradiction(
            "total-mismatch",
            sentence,
            line,
            [
                format!(
                    "{} = {}, not {} {}",
                    group(4).trim(),
                    format_seconds(sum),
                    group(1),
                    group(2)
                ),
                "Correct the time or its parts.".to_owned(),
            ],
            findings,
        );
    }
}

fn format_seconds(seconds: f64) -> String {
    match seconds {
        _ if seconds >= 60.0 => format!("{} minutes", format_number(seconds / 60.0)),
        _ => format_value(seconds, Unit::Time),
    }
}

/// A number with at most one word after it, its unit.
const TERM: &str = r"\d[\d,]*(?:\.\d+)?(?:\s?%|\s?[A-Za-zµ][A-Za-zµ/]*)?";

static EQUATION: Pattern = pattern!(&format!(
    r"({TERM}(?:\s+[+−×÷*/]\s+{TERM})+)\s+=\s+(\d[\d,]*(?:\.\d+)?)"
));

/// Factors between units of the same kind: times, data, shares.
const SCALES: [f64; 9] = [1.0, 8.0, 60.0, 100.0, 1e3, 1024.0, 3600.0, 1e6, 1_048_576.0];

/// Checks `a × b = c`. Units are not parsed, so a result that differs by the factor of two units passes.
fn check_equation(sentence: &str, line: usize, findings: &mut Findings) {
    for found in EQUATION.all(sentence).take(8) {
        let (Some(whole), Some(left), Some(right)) = (found.get(0), found.get(1), found.get(2))
        else {
            continue;
        };
        // This is the end of a longer expression, or a number with a sign.
        let before = sentence[..whole.start()].trim_end();
        if before.ends_with(|letter: char| "+−-×÷*/^)=(≈~.,".contains(letter)) {
            continue;
        }
        let (Some(value), Some((claimed, step))) =
            (evaluate_sum(left.as_str()), parse_number(right.as_str()))
        else {
            continue;
        };
        if value <= 0.0 || claimed <= 0.0 {
            continue;
        }
        // The terms are rounded, too.
        let near = |value: f64| (claimed - value).abs() <= step + 0.03 * value;
        if SCALES
            .iter()
            .any(|scale| near(value * scale) || near(value / scale))
        {
            continue;
        }
        let rule = match left.as_str().contains(['×', '÷', '*', '/']) {
            true => "ratio-misstated",
            false => "total-mismatch",
        };
        report_contradiction(
            rule,
            sentence,
            line,
            [
                format!(
                    "{} = {}, not {}",
                    left.as_str(),
                    format_number(value),
                    right.as_str()
                ),
                "Recalculate it.".to_owned(),
            ],
            findings,
        );
    }
}

/// The value of a sum of products, without units.
fn evaluate_sum(expression: &str) -> Option<f64> {
    let (mut sum, mut product, mut sign) = (0.0, None, 1.0);
    let mut operator = "+";
    for word in expression.split_whitespace() {
        if matches!(word, "+" | "−" | "×" | "÷" | "*" | "/") {
            operator = word;
            continue;
        }
        let digits: String = word
            .chars()
            .take_while(|letter| letter.is_ascii_digit() || matches!(letter, '.' | ','))
            .collect();
        // This is the unit of the preceding number.
        if digits.is_empty() {
            continue;
        }
        let (value, _) = parse_number(&digits)?;
        match (operator, product) {
            ("×" | "*", Some(known)) => product = Some(known * value),
            ("÷" | "/", Some(known)) => product = Some(known / value),
            _ => {
                sum += sign * product.unwrap_or(0.0);
                sign = if operator == "−" { -1.0 } else { 1.0 };
                product = Some(value);
            }
        }
        operator = "";
    }
    let value = sum + sign * product?;
    value.is_finite().then_some(value)
}

static PER_SECOND: Pattern = pattern!(
    r"(?i)\b(\d[\d,]*(?:\.\d+)?)(k?)\s+(?:[a-z]+\s+)?(?:requests|queries|calls|transactions|operations)\s+(?:(?:were\s+)?(?:completed|processed|served|sent|made|handled)\s+)?in\s+(?:just |only )?(\d+(?:\.\d+)?)\s?(minutes?|mins?|m|seconds?|secs?|s)\b([^.;\d]{0,40}?)(\d[\d,]*(?:\.\d+)?)(k?)\s?(?:req(?:uest)?s?/s(?:ec(?:ond)?)?|rps|qps|tps|requests per second|requests a second)\b"
);

/// Checks a count and its time against a stated rate.
fn check_rate(sentence: &str, line: usize, findings: &mut Findings) {
    for found in PER_SECOND.all(sentence).take(8) {
        let group = |at: usize| group(&found, at);
        let scaled = |at: usize| {
            let scale = if group(at + 1).is_empty() { 1.0 } else { 1e3 };
            Some(parse_number(group(at))?.0 * scale)
        };
        let between = group(5).to_lowercase();
        let of_another = [
            "peak", "max", "up to", "limit", "target", "each", "per ", "instead",
        ]
        .iter()
        .any(|word| between.contains(word));
        let (Some(count), Some(time), Some(rate), false) = (
            scaled(1),
            parse_seconds(group(3), group(4)),
            scaled(6),
            of_another,
        ) else {
            continue;
        };
        if time <= 0.0 || rate <= 0.0 || (count / time - rate).abs() <= 0.15 * rate {
            continue;
        }
        report_contradiction(
            "ratio-misstated",
            sentence,
            line,
            [
                format!(
                    "{} ÷ {} = {}, not {}",
                    format_number(count),
                    format_value(time, Unit::Time),
                    format_value(count / time, Unit::Rate),
                    format_value(rate, Unit::Rate)
                ),
                "Take the count, the time and the rate from the same run.".to_owned(),
            ],
            findings,
        );
    }
}

static COUNT: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(k\b|m\b|million)?\s*(?:total |http )*(?:requests|queries|calls|operations|messages|transactions|events)\b(.{0,3})"
);
static TIME: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,/–-])(\d+(?:\.\d+)?)[ -]?(minutes?|mins?|m|seconds?|secs?|s|hours?|h)\b"
);
static RATE: Pattern = pattern!(
    r"(?i)(?:^|[^\w.,–-])(\d[\d,]*(?:\.\d+)?)\s?(k\b)?\s?(?:(?:requests?|reqs?|ops|queries|calls|operations|messages|transactions|events)(?:/s(?:ec(?:ond)?)?| per second| a second)|rps|qps|tps)\b"
);

/// Checks the only count, the only time and the only rate of a sentence: "100 req/s for 5 minutes,
/// 25,000 requests".
fn check_product(sentence: &str, line: usize, findings: &mut Findings) {
    const OTHER: [&str; 26] = [
        "peak",
        "max",
        "up to",
        "limit",
        "target",
        "each",
        "per user",
        "per vu",
        "per client",
        "every",
        "interval",
        "timeout",
        "ramp",
        "think",
        "latenc",
        "response",
        "warm",
        "p9",
        "p5",
        "if ",
        "would",
        "should",
        "could",
        "burst",
        "than",
        "last",
    ];
    let lower = sentence.to_lowercase();
    if OTHER.iter().any(|word| lower.contains(word)) {
        return;
    }
    let Some(rate) = RATE.only(sentence) else {
        return;
    };
    // "Requests per second" names a rate, not a count.
    let mut counts = COUNT.all(sentence).filter(|found| {
        let after = found
            .get(3)
            .map_or("", |after| after.as_str())
            .to_lowercase();
        !(after.starts_with('/') || after.starts_with(" pe") || after.starts_with(" a "))
    });
    let (Some(count), None, Some(time)) = (counts.next(), counts.next(), TIME.only(sentence))
    else {
        return;
    };
    let scaled = |found: &regex_lite::Captures| {
        let scale = match found.get(2).map(|unit| unit.as_str().to_lowercase()) {
            Some(unit) if unit.starts_with('k') => 1e3,
            Some(_) => 1e6,
            None => 1.0,
        };
        let (value, step) = parse_number(found.get(1)?.as_str())?;
        Some((value * scale, step * scale))
    };
    let group = |at: usize| time.get(at).map_or("", |group| group.as_str());
    let (Some((count, near)), Some((rate, step)), Some(time)) = (
        scaled(&count),
        scaled(&rate),
        parse_seconds(group(1), group(2)),
    ) else {
        return;
    };
    if count < 1.0 || rate <= 0.0 || time < 1.0 {
        return;
    }
    let right = rate * time;
    let slack = 0.15 * right + near + step * time;
    let known = findings
        .found
        .iter()
        .any(|found| found.line == line && found.level > Level::Note);
    // If they are far apart, the figures belong to different runs.
    if known || (count - right).abs() <= slack || !(0.1..10.0).contains(&(count / right)) {
        return;
    }
    report_contradiction(
        "ratio-misstated",
        sentence,
        line,
        [
            format!(
                "{} × {} = {}, not {}",
                format_value(rate, Unit::Rate),
                format_value(time, Unit::Time),
                format_number(right),
                format_number(count)
            ),
            "Take the count, the time and the rate from the same run.".to_owned(),
        ],
        findings,
    );
}

#[cfg(test)]
mod tests {
    use super::evaluate_sum;

    #[test]
    fn products_come_before_sums() {
        for (text, value) in [
            ("3 + 5 + 1", 9.0),
            ("2 × 3 + 4", 10.0),
            ("2 + 3 × 4", 14.0),
            ("1,000 ÷ 4 − 50", 200.0),
            ("500 req/s × 30 s", 15_000.0),
        ] {
            assert_eq!(evaluate_sum(text), Some(value), "{text}");
        }
        assert_eq!(evaluate_sum("5 ÷ 0"), None);
    }
}
