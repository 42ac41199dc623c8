//! The names of figures in the languages of published pages, in lower case.

/// The figure that a label names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Metric {
    Mean,
    Min,
    Max,
    Quantile(f64),
    Rate,
    Requests,
    FailedShare,
    PassedShare,
}

const MEAN: [&str; 18] = [
    "average",
    "avg",
    "mean",
    "promedio",
    "medio",
    "media",
    "médio",
    "média",
    "moyen",
    "durchschnitt",
    "mittler",
    "средн",
    "平均",
    "ortalama",
    "trung bình",
    "średni",
    "gemiddeld",
    "평균",
];
const MEDIAN: [&str; 8] = [
    "median",
    "mediana",
    "médiane",
    "медиан",
    "中位",
    "中央値",
    "medyan",
    "중앙값",
];
const MIN: [&str; 7] = [
    "minimum",
    "fastest",
    "mínim",
    "minim",
    "миним",
    "最小",
    "最快",
];
const MAX: [&str; 7] = [
    "maximum",
    "slowest",
    "máxim",
    "maxim",
    "максим",
    "最大",
    "最慢",
];
const PERCENTILE: [&str; 8] = [
    "percentil",
    "процентил",
    "персентил",
    "перцентил",
    "百分位",
    "分位",
    "パーセンタイル",
    "yüzdelik",
];
/// Names for the time of a request.
const LATENCY: [&str; 29] = [
    "req_duration",
    "latency",
    "latencia",
    "latência",
    "latence",
    "latenz",
    "задержк",
    "gecikme",
    "độ trễ",
    "opóźnieni",
    "延迟",
    "延時",
    "延时",
    "レイテンシ",
    "response time",
    "request time",
    "time per request",
    "request duration",
    "tiempo de respuesta",
    "tempo de resposta",
    "temps de réponse",
    "antwortzeit",
    "время ответа",
    "времени ответа",
    "время отклика",
    "времени отклика",
    "响应时间",
    "応答時間",
    "yanıt süresi",
];
const RATE: [&str; 24] = [
    "requests per second",
    "requests/sec",
    "requests/s",
    "requests / s",
    "req/s",
    "reqs/s",
    "reqs/sec",
    "req/sec",
    "rps",
    "qps",
    "throughput",
    "peticiones por segundo",
    "solicitudes por segundo",
    "requisições por segundo",
    "requêtes par seconde",
    "requêtes/s",
    "anfragen pro sekunde",
    "запросов в секунду",
    "запросов/сек",
    "每秒请求",
    "吞吐",
    "スループット",
    "毎秒",
    "istek/s",
];
const REQUESTS: [&str; 19] = [
    "total requests",
    "requests",
    "number of requests",
    "total number of requests",
    "complete requests",
    "completed requests",
    "total de peticiones",
    "total de solicitudes",
    "total de requisições",
    "total des requêtes",
    "nombre de requêtes",
    "gesamtzahl der anfragen",
    "всего запросов",
    "количество запросов",
    "общее количество запросов",
    "总请求数",
    "请求总数",
    "総リクエスト数",
    "toplam istek",
];
const FAILED_SHARE: [&str; 13] = [
    "error rate",
    "failure rate",
    "failed rate",
    "tasa de error",
    "taxa de erro",
    "taux d'erreur",
    "fehlerrate",
    "процент ошибок",
    "доля ошибок",
    "错误率",
    "失败率",
    "エラー率",
    "hata oranı",
];
const PASSED_SHARE: [&str; 15] = [
    "success rate",
    "pass rate",
    "success ratio",
    "checks passed",
    "checks succeeded",
    "tasa de éxito",
    "taxa de sucesso",
    "taux de réussite",
    "taux de succès",
    "erfolgsrate",
    "доля успешных",
    "процент успешных",
    "成功率",
    "성공률",
    "başarı oranı",
];
/// Words of a label or a title about a limit or another run.
const OTHER_RUN: [&str; 22] = [
    "target",
    "threshold",
    "limit",
    "goal",
    "expect",
    "before",
    "previous",
    "baseline",
    "budget",
    "objetivo",
    "esperad",
    "límite",
    "ожида",
    "порог",
    "目标",
    "目標",
    "期望",
    "beklenen",
    "hedef",
    "vorher",
    "ziel",
    "цель",
];
/// Words of a label about a time other than the request's, or about only a part of the rate.
const OTHER_TIME: [&str; 30] = [
    "cpu",
    "memory",
    "database",
    "db ",
    "query",
    "queries",
    "cache",
    "redis",
    "connect",
    "tls",
    "dns",
    "first byte",
    "ttfb",
    "improve",
    "increase",
    "decrease",
    "reduc",
    "change",
    "min/",
    "peak",
    "virtual",
    "user",
    "worker",
    "thread",
    "core",
    "/connection",
    "per connection",
    "per node",
    "per instance",
    "per pod",
];

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

/// Whether a label or a title is about a limit, or about another run.
pub fn is_of_another_run(label: &str) -> bool {
    let label = label.to_lowercase();
    contains_any(&label, &OTHER_RUN) || is_word(&label, "sla") || is_word(&label, "slo")
}

/// The figure that a label names, if it names one.
pub fn parse_metric(label: &str) -> Option<Metric> {
    let label = label.to_lowercase();
    let label = label.trim_matches(|letter: char| !letter.is_alphanumeric() && letter != ')');
    if label.chars().count() > 60 || is_of_another_run(label) || contains_any(label, &OTHER_TIME) {
        return None;
    }
    if REQUESTS.contains(&label) {
        return Some(Metric::Requests);
    }
    if contains_any(label, &FAILED_SHARE) {
        return Some(Metric::FailedShare);
    }
    if contains_any(label, &PASSED_SHARE) {
        return Some(Metric::PassedShare);
    }
    let statistic = parse_statistic(label);
    if contains_any(label, &RATE) {
        // The average of a rate is the rate itself.
        return matches!(statistic, None | Some(Metric::Mean)).then_some(Metric::Rate);
    }
    // "Average" alone means the latency, but "average build time" does not.
    let named = contains_any(label, &LATENCY);
    let alone = label.split_whitespace().count() == 1 && label.chars().count() <= 14;
    statistic.filter(|_| named || alone)
}

/// The column to which a label refers.
fn parse_statistic(label: &str) -> Option<Metric> {
    let percent = parse_percentile(label);
    let median = contains_any(label, &MEDIAN);
    let found = [
        percent.map(|percent| Metric::Quantile(percent / 100.0)),
        (median && percent != Some(50.0)).then_some(Metric::Quantile(0.5)),
        contains_any(label, &MEAN)
            .then_some(Metric::Mean)
            .filter(|_| !median),
        (contains_any(label, &MIN) || is_word(label, "min")).then_some(Metric::Min),
        (contains_any(label, &MAX) || is_word(label, "max")).then_some(Metric::Max),
    ];
    let mut found = found.into_iter().flatten();
    // Labels such as "p95 and p99" or "average and maximum" name two figures.
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

fn split_words(label: &str) -> impl Iterator<Item = &str> {
    label
        .split(|letter: char| !(letter.is_alphanumeric() || letter == '.'))
        .filter(|word| !word.is_empty())
}

fn is_word(label: &str, expected: &str) -> bool {
    split_words(label).any(|word| word == expected)
}

/// Parses `p95`, `p(95)`, `95th percentile`, `95-й процентиль` as 95. With two percentiles, neither
/// is certain.
fn parse_percentile(label: &str) -> Option<f64> {
    let named = contains_any(label, &PERCENTILE);
    let label = label.replace("p(", "p");
    let mut found = split_words(&label).filter_map(|word| {
        let digits = match word.strip_prefix('p') {
            Some(digits) => digits,
            None if named => word.trim_end_matches(char::is_alphabetic),
            None => return None,
        };
        let percent: f64 = digits.parse().ok()?;
        (50.0..100.0).contains(&percent).then_some(percent)
    });
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::{Metric, parse_metric};

    #[test]
    fn labels_name_one_figure() {
        for (label, expected) in [
            ("Average latency", Some(Metric::Mean)),
            ("**Среднее время ответа**", Some(Metric::Mean)),
            (
                "95-й процентиль времени ответа",
                Some(Metric::Quantile(0.95)),
            ),
            ("p95 latency", Some(Metric::Quantile(0.95))),
            ("http_req_duration p(95)", Some(Metric::Quantile(0.95))),
            ("Slowest", Some(Metric::Max)),
            ("P99", Some(Metric::Quantile(0.99))),
            ("Median response time", Some(Metric::Quantile(0.5))),
            ("Latencia p95", Some(Metric::Quantile(0.95))),
            ("平均响应时间", Some(Metric::Mean)),
            ("Requests/sec", Some(Metric::Rate)),
            ("Average RPS", Some(Metric::Rate)),
            ("Max RPS", None),
            ("Throughput/Thread", None),
            ("Total requests", Some(Metric::Requests)),
            ("Failed requests", None),
            ("Error rate", Some(Metric::FailedShare)),
            ("**Checks passed**", Some(Metric::PassedShare)),
            ("Taxa de sucesso", Some(Metric::PassedShare)),
            ("Average build time", None),
            ("Average query latency", None),
            ("p95 and p99 latency", None),
            ("Target latency p95", None),
        ] {
            assert_eq!(parse_metric(label), expected, "{label}");
        }
    }
}
