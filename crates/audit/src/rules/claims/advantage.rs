//! "A has 12 % more throughput", if exactly two outputs are under the same headings and one of them is A.

use super::named_outputs::{find_block_titled, find_rival};
use crate::block::Block;
use crate::finding::Level;
use crate::pattern::{Pattern, group, pattern};
use crate::quantity::{Quantity, format_number, parse_number};
use crate::report::{Findings, Report};
use crate::rules::change::is_about;
use crate::rules::prose::{is_conditional, shorten};

static CLAIM: Pattern = pattern!(
    r"(?i)^\W*(?:the )?([\w][\w .+/-]{1,40}?)\W{0,3}\s+(?:has|had|shows?|showed|achieves?|achieved|delivers?|delivered|offers?|gives?|gave|provides?|sees?|saw|gets?)\s+(?:a |an |about |around |roughly |~)*(\d+(?:\.\d+)?)\s?%\s+(better |higher |lower |more |less )?(throughput|latency|requests per second|rps|performance)(?:\s+(?:advantage|improvement|gain|increase|edge|lead|benefit|reduction|decrease))?\b([^.;]*)"
);

pub fn check_sentence(report: &Report, sentence: &str, line: usize, findings: &mut Findings) {
    if !sentence.contains('%') || is_conditional(sentence) {
        return;
    }
    let Some(found) = CLAIM.first(sentence) else {
        return;
    };
    let group = |at: usize| group(&found, at);
    let (Some((claimed, step)), Some(one)) =
        (parse_number(group(2)), find_block_titled(report, group(1)))
    else {
        return;
    };
    // A phrase "than X" may refer to a third output.
    let Some(other) = find_rival(report, one).filter(|_| !group(5).to_lowercase().contains("than"))
    else {
        return;
    };
    let of_latency = group(4).to_lowercase().starts_with("latenc");
    let pairs: Vec<(Quantity, Quantity)> = comparable_figures(one, of_latency)
        .into_iter()
        .zip(comparable_figures(other, of_latency))
        .filter_map(|(a, b)| Some((a?, b?)))
        .filter(|(a, b)| a.value > 0.0 && b.value > 0.0)
        .collect();
    let slack = if is_about(sentence) {
        0.1 * claimed
    } else {
        0.0
    };
    let fits = pairs.iter().any(|(a, b)| {
        [a.value / b.value, b.value / a.value]
            .iter()
            .any(|ratio| is_rounding_of(claimed, step, (ratio - 1.0).abs() * 100.0, slack))
    });
    let Some((a, b)) = pairs.first().filter(|_| !fits) else {
        return;
    };
    findings.page(
        "ratio-misstated",
        Level::Warning,
        line,
        [
            format!(
                "\"{}\"; {} (line {}) and {} (line {})",
                shorten(sentence),
                a.text,
                a.line,
                b.text,
                b.line
            ),
            format!(
                "{} ÷ {} = {}, a difference of {} %, not {} %",
                a.text,
                b.text,
                format_number(a.value / b.value),
                format_number((a.value / b.value - 1.0).abs() * 100.0),
                format_number(claimed)
            ),
            "Recalculate it from the two outputs, and name the figure.".to_owned(),
        ],
    );
}

/// The figures that a sentence may refer to, in the same order for each output.
fn comparable_figures(block: &Block, of_latency: bool) -> [Option<Quantity>; 5] {
    let latency = block.latency();
    let quantile = |q: f64| latency.and_then(|latency| latency.at(q).cloned());
    let mean = latency.and_then(|latency| latency.mean.clone());
    if of_latency {
        return [mean, quantile(0.5), quantile(0.95), quantile(0.99), None];
    }
    [
        block.rate.clone(),
        block.requests.clone(),
        block.elapsed.clone(),
        mean,
        quantile(0.5),
    ]
}

/// Whether a percentage may be written for this value, either rounded or truncated.
fn is_rounding_of(claimed: f64, step: f64, right: f64, slack: f64) -> bool {
    let rounded = (claimed - right).abs() <= 0.5 * step * 1.001 + slack + 1e-9;
    let cut = right >= claimed && right < claimed + step;
    rounded || cut
}

#[cfg(test)]
mod tests {
    use super::is_rounding_of;

    #[test]
    fn a_percentage_is_rounded_or_cut_off() {
        assert!(is_rounding_of(3.7, 0.1, 3.732, 0.0));
        assert!(is_rounding_of(3.7, 0.1, 3.79, 0.0));
        assert!(!is_rounding_of(3.8, 0.1, 3.732, 0.0));
        assert!(is_rounding_of(40.0, 1.0, 43.0, 4.0));
    }
}
