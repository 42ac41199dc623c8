//! Renders metrics as aligned lines, for both of k6's text layouts.

use plimsoll_plan::{Figure, GivenTimeUnit, Options, TimeUnit, TrendStat};
use plimsoll_samples::{Contains, MetricSummary, Values};

use crate::collation;
use crate::numbers;
use crate::paint::{Paint, spaces, width};
use crate::trend_figure::{default_trend_stats, figure};

/// How values are shown.
#[derive(Clone, Debug)]
pub struct Style {
    /// The statistics of a trend.
    pub trend_stats: Vec<TrendStat>,
    /// The unit of all times. `None` selects the best unit for each time.
    pub time_unit: Option<TimeUnit>,
    /// Whether to use colors.
    pub paint: Paint,
}

impl Default for Style {
    fn default() -> Self {
        Style {
            trend_stats: default_trend_stats(),
            time_unit: None,
            paint: Paint::OFF,
        }
    }
}

impl Style {
    /// The figures that the options of a run configure.
    pub fn new(options: &Options, paint: Paint) -> Style {
        Style {
            trend_stats: options
                .summary_trend_stats
                .clone()
                .unwrap_or_else(default_trend_stats),
            time_unit: options
                .summary_time_unit
                .as_ref()
                .and_then(GivenTimeUnit::unit),
            paint,
        }
    }
}

/// A line of the table before it is aligned.
pub(crate) struct Row {
    /// The name, including the two leading spaces that indent a sub-metric.
    pub name: String,
    /// Whether all its thresholds are met. `None` if it has none.
    pub holds: Option<bool>,
    pub figures: Figures,
}

pub(crate) enum Figures {
    /// A value, and related values.
    Single(String, Vec<String>),
    /// Values with labels.
    Labeled(Vec<(String, String)>),
}

impl Row {
    pub fn new(metric: &MetricSummary, style: &Style) -> Row {
        Row {
            name: display_name(metric),
            holds: (!metric.thresholds.is_empty())
                .then(|| metric.thresholds.iter().all(|threshold| threshold.ok)),
            figures: figures(&metric.values, metric.contains, style),
        }
    }

    pub fn is_submetric(&self) -> bool {
        self.name.starts_with(' ')
    }
}

fn figures(values: &Values, contains: Contains, style: &Style) -> Figures {
    let show = |value| numbers::value(value, contains, style.time_unit);
    match values {
        Values::Counter { count, rate } => {
            Figures::Single(show(*count), vec![format!("{}/s", show(*rate))])
        }
        Values::Gauge { value, min, max } => Figures::Single(
            show(*value),
            vec![format!("min={}", show(*min)), format!("max={}", show(*max))],
        ),
        Values::Rate { passes, fails } => Figures::Single(
            numbers::percent(values.rate().unwrap_or(0.0)),
            vec![format!("{passes} out of {}", passes.saturating_add(*fails))],
        ),
        Values::Trend(_) => Figures::Labeled(
            style
                .trend_stats
                .iter()
                .map(|stat| {
                    let value = figure(stat, values);
                    let text = if stat.figure == Figure::Count {
                        numbers::plain(value)
                    } else {
                        show(value)
                    };
                    (stat.as_str().to_owned(), text)
                })
                .collect(),
        ),
    }
}

/// The name of the metric, or the selector of a sub-metric as `  { tag:value }`.
fn display_name(metric: &MetricSummary) -> String {
    match split_name(&metric.name) {
        (_, Some(selector)) => {
            let inner = selector.strip_prefix('{').unwrap_or(selector);
            let inner = inner.strip_suffix('}').unwrap_or(inner);
            format!("  {{ {inner} }}")
        }
        (name, None) => name.to_owned(),
    }
}

/// Splits `name{selector}` into `name` and `{selector}`.
pub(crate) fn split_name(name: &str) -> (&str, Option<&str>) {
    match name.find('{') {
        Some(brace) => {
            let (name, selector) = name.split_at(brace);
            (name, Some(selector))
        }
        None => (name, None),
    }
}

/// Metrics sorted by name, each followed by its sub-metrics.
pub(crate) fn sorted<'a>(
    metrics: impl IntoIterator<Item = &'a MetricSummary>,
) -> Vec<&'a MetricSummary> {
    let mut metrics: Vec<_> = metrics.into_iter().collect();
    metrics.sort_by(|a, b| {
        let ((a, a_selector), (b, b_selector)) = (split_name(&a.name), split_name(&b.name));
        collation::compare(a, b)
            .then_with(|| collation::compare(a_selector.unwrap_or(""), b_selector.unwrap_or("")))
    });
    metrics
}

/// The widths of columns, shared by all aligned rows.
#[derive(Default)]
pub(crate) struct Widths {
    name: usize,
    single: usize,
    extras: Vec<usize>,
    labeled: Vec<usize>,
}

impl Widths {
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Widths {
        let mut widths = Widths::default();
        for row in rows {
            widths.name = widths.name.max(width(&row.name));
            match &row.figures {
                Figures::Single(figure, extras) => {
                    widths.single = widths.single.max(width(figure));
                    widen(&mut widths.extras, extras.iter().map(|text| width(text)));
                }
                Figures::Labeled(figures) => {
                    widen(
                        &mut widths.labeled,
                        figures.iter().map(|(_, text)| width(text)),
                    );
                }
            }
        }
        widths
    }

    /// The row, starting with the name. A sub-metric keeps its indentation.
    pub fn line(&self, row: &Row, paint: Paint) -> String {
        let dots = format!("{}:", ".".repeat(self.name + 3 - width(&row.name)));
        let figures = match &row.figures {
            Figures::Single(figure, extras) => self.single_line(figure, extras, paint),
            Figures::Labeled(figures) => self.labeled_line(figures, paint),
        };
        format!("{}{} {figures}", row.name, paint.dim(&dots))
    }

    /// As in k6, the last of several extras is padded, but a single extra is not.
    fn single_line(&self, figure: &str, extras: &[String], paint: Paint) -> String {
        let mut line = paint.figure(figure) + &spaces(self.single - width(figure));
        for (text, column) in extras.iter().zip(&self.extras) {
            line.push(' ');
            line.push_str(&paint.secondary(text));
            if extras.len() > 1 {
                line.push_str(&spaces(column - width(text)));
            }
        }
        line
    }

    fn labeled_line(&self, figures: &[(String, String)], paint: Paint) -> String {
        figures
            .iter()
            .zip(&self.labeled)
            .map(|((label, text), column)| {
                format!(
                    "{label}={}{}",
                    paint.figure(text),
                    spaces(column - width(text))
                )
            })
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn widen(columns: &mut Vec<usize>, widths: impl Iterator<Item = usize>) {
    for (place, width) in widths.enumerate() {
        match columns.get_mut(place) {
            Some(column) => *column = width.max(*column),
            None => columns.push(width),
        }
    }
}
