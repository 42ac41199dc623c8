//! Translates words for figures, changes and uncertainty in the languages of published pages, so
//! that all rules can read them as English. Other words stay unchanged.

/// Phrases, and words of languages without spaces. Longer ones precede their parts.
const PHRASES: [(&str, &str); 176] = [
    // Rates and shares.
    ("peticiones por segundo", "requests per second"),
    ("solicitudes por segundo", "requests per second"),
    ("requisições por segundo", "requests per second"),
    ("requêtes par seconde", "requests per second"),
    ("requêtes/s", "requests/s"),
    ("anfragen pro sekunde", "requests per second"),
    ("richieste al secondo", "requests per second"),
    ("permintaan per detik", "requests per second"),
    ("запросов в секунду", "requests per second"),
    ("每秒请求次数", "requests per second"),
    ("每秒请求数", "requests per second"),
    ("每秒请求", "requests per second"),
    ("초당 요청 수", "requests per second"),
    ("초당 요청", "requests per second"),
    ("秒間リクエスト数", "requests per second"),
    ("пропускная способность", "throughput"),
    ("пропускной способности", "throughput"),
    ("throughput rata-rata", "average throughput"),
    ("tasa de errores", "error rate"),
    ("tasa de error", "error rate"),
    ("taxa de erros", "error rate"),
    ("taxa de erro", "error rate"),
    ("taux d'erreurs", "error rate"),
    ("taux d'erreur", "error rate"),
    ("tasso di errore", "error rate"),
    ("tingkat kesalahan", "error rate"),
    ("доля ошибок", "error rate"),
    ("процент ошибок", "error rate"),
    ("tỷ lệ lỗi", "error rate"),
    ("hata oranı", "error rate"),
    ("错误率", "error rate"),
    ("失败率", "failure rate"),
    ("エラー率", "error rate"),
    ("에러율", "error rate"),
    ("오류율", "error rate"),
    ("tasa de éxito", "success rate"),
    ("taxa de sucesso", "success rate"),
    ("taux de succès", "success rate"),
    ("tasso di successo", "success rate"),
    ("tingkat keberhasilan", "success rate"),
    ("доля успешных", "success rate"),
    ("başarı oranı", "success rate"),
    ("成功率", "success rate"),
    ("성공률", "success rate"),
    // Latencies.
    ("tiempo de respuesta", "response time"),
    ("tiempos de respuesta", "response times"),
    ("tempo de resposta", "response time"),
    ("temps de réponse", "response time"),
    ("tempo di risposta", "response time"),
    ("waktu respons", "response time"),
    ("waktu respon", "response time"),
    ("waktu tanggap", "response time"),
    ("время ответа", "response time"),
    ("времени ответа", "response time"),
    ("время отклика", "response time"),
    ("времени отклика", "response time"),
    ("thời gian phản hồi", "response time"),
    ("yanıt süresi", "response time"),
    ("độ trễ", "latency"),
    ("响应时间", "response time"),
    ("应答时间", "response time"),
    ("応答時間", "response time"),
    ("レスポンスタイム", "response time"),
    ("응답 시간", "response time"),
    ("응답시간", "response time"),
    ("延迟", "latency"),
    ("延时", "latency"),
    ("时延", "latency"),
    ("レイテンシ", "latency"),
    ("지연 시간", "latency"),
    ("지연시간", "latency"),
    // Statistics.
    ("rata-rata", "average"),
    ("trung bình", "average"),
    ("平均", "average"),
    ("평균", "average"),
    ("中位数", "median"),
    ("中央値", "median"),
    ("중앙값", "median"),
    ("最大", "max"),
    ("최대", "max"),
    ("最小", "min"),
    ("최소", "min"),
    // Counts and settings.
    ("всего запросов", "total requests"),
    ("количество запросов", "total requests"),
    ("неудачных запросов", "failed requests"),
    ("总请求数", "total requests"),
    ("总请求", "total requests"),
    ("请求数", "requests"),
    ("リクエスト数", "requests"),
    ("요청 수", "requests"),
    ("số lượng request", "requests"),
    ("总耗时", "total time"),
    ("吞吐量", "throughput"),
    ("吞吐", "throughput"),
    ("スループット", "throughput"),
    ("처리량", "throughput"),
    ("người dùng", "users"),
    ("số lượng user", "users"),
    ("并发用户数", "users"),
    ("并发用户", "users"),
    ("用户数", "users"),
    ("并发数", "concurrency"),
    ("并发", "concurrency"),
    ("线程数", "threads"),
    ("连接数", "connections"),
    ("同時接続数", "connections"),
    ("ユーザー数", "users"),
    ("동시 사용자 수", "users"),
    ("동시 사용자", "users"),
    ("사용자 수", "users"),
    // Changes.
    ("más rápid", "faster "),
    ("mais rápid", "faster "),
    ("plus rapide", "faster"),
    ("più veloce", "faster"),
    ("lebih cepat", "faster"),
    ("daha hızlı", "faster"),
    ("nhanh hơn", "faster"),
    ("más lent", "slower "),
    ("mais lent", "slower "),
    ("plus lent", "slower"),
    ("lebih lambat", "slower"),
    ("daha yavaş", "slower"),
    ("chậm hơn", "slower"),
    ("提升", "improved"),
    ("提高", "improved"),
    ("增加", "increased"),
    ("增长", "increased"),
    ("上升", "increased"),
    ("降低", "reduced"),
    ("下降", "reduced"),
    ("减少", "reduced"),
    ("缩短", "reduced"),
    ("向上", "improved"),
    ("改善", "improved"),
    ("増加", "increased"),
    ("減少", "reduced"),
    ("低下", "reduced"),
    ("短縮", "reduced"),
    ("削減", "reduced"),
    ("향상", "improved"),
    ("개선", "improved"),
    ("증가", "increased"),
    ("감소", "reduced"),
    ("단축", "reduced"),
    ("tăng", "increased"),
    ("giảm", "reduced"),
    ("相比", " compared "),
    ("比", " than "),
    // Uncertainty, plans and limits.
    ("可能", "may"),
    ("预期", "expected"),
    ("预计", "expected"),
    ("预估", "expected"),
    ("理论", "theoretical"),
    ("目标", "target"),
    ("左右", "about"),
    ("大约", "about"),
    ("以上", "at least"),
    ("至少", "at least"),
    ("以内", "up to"),
    ("最多", "up to"),
    ("如果", "if"),
    ("没有", "not"),
    ("不", "not"),
    ("予想", "expected"),
    ("目標", "target"),
    ("예상", "expected"),
    ("목표", "target"),
    ("이상", "at least"),
    ("không", "not"),
    ("mục tiêu", "target"),
    ("hasta ", "up to "),
    ("até ", "up to "),
    ("jusqu'à ", "up to "),
    ("bis zu ", "up to "),
    ("hingga ", "up to "),
    ("не более ", "up to "),
];

/// Stems of words.
const STEMS: [(&str, &str); 112] = [
    ("promedio", "average"),
    ("médian", "median"),
    ("médi", "average"),
    ("moyen", "average"),
    ("durchschnitt", "average"),
    ("mittler", "average"),
    ("средн", "average"),
    ("ortalama", "average"),
    ("średni", "average"),
    ("gemiddeld", "average"),
    ("mediana", "median"),
    ("медиан", "median"),
    ("máxim", "max"),
    ("maksim", "max"),
    ("максимальн", "max"),
    ("mínim", "min"),
    ("минимальн", "min"),
    ("latencia", "latency"),
    ("latência", "latency"),
    ("latence", "latency"),
    ("latenz", "latency"),
    ("latensi", "latency"),
    ("задержк", "latency"),
    ("gecikme", "latency"),
    ("opóźnieni", "latency"),
    ("antwortzeit", "response time"),
    ("durchsatz", "throughput"),
    ("vazão", "throughput"),
    ("débit", "throughput"),
    ("peticiones", "requests"),
    ("solicitudes", "requests"),
    ("requisições", "requests"),
    ("requêtes", "requests"),
    ("anfragen", "requests"),
    ("richieste", "requests"),
    ("permintaan", "requests"),
    ("запрос", "requests"),
    ("żąda", "requests"),
    ("errores", "errors"),
    ("erreurs", "errors"),
    ("fehlerrate", "error rate"),
    ("fehler", "errors"),
    ("erfolgsrate", "success rate"),
    ("ошиб", "errors"),
    ("kesalahan", "errors"),
    ("usuarios", "users"),
    ("usuários", "users"),
    ("utilisateurs", "users"),
    ("benutzer", "users"),
    ("nutzer", "users"),
    ("utenti", "users"),
    ("pengguna", "users"),
    ("пользовател", "users"),
    ("kullanıcı", "users"),
    ("użytkowni", "users"),
    ("conexiones", "connections"),
    ("conexões", "connections"),
    ("connexions", "connections"),
    ("verbindungen", "connections"),
    ("koneksi", "connections"),
    ("соединени", "connections"),
    ("поток", "threads"),
    ("hilos", "threads"),
    ("veces", "times"),
    ("vezes", "times"),
    ("раза", "times"),
    ("раз", "times"),
    ("kali", "times"),
    ("быстрее", "faster"),
    ("быстре", "faster"),
    ("медленне", "slower"),
    ("schneller", "faster"),
    ("langsamer", "slower"),
    ("снизил", "reduced"),
    ("снижен", "reduced"),
    ("уменьш", "reduced"),
    ("сократ", "reduced"),
    ("увелич", "increased"),
    ("вырос", "increased"),
    ("возрос", "increased"),
    ("улучш", "improved"),
    ("reduj", "reduced"),
    ("reduz", "reduced"),
    ("rédui", "reduced"),
    ("mejor", "improved"),
    ("melhor", "improved"),
    ("amélior", "improved"),
    ("verbesser", "improved"),
    ("aument", "increased"),
    ("meningkat", "increased"),
    ("peningkatan", "increased"),
    ("menurun", "reduced"),
    ("penurunan", "reduced"),
    ("gestiegen", "increased"),
    ("gesunken", "reduced"),
    ("objetivo", "target"),
    ("objectif", "target"),
    ("целев", "target"),
    ("ожида", "expected"),
    ("esperad", "expected"),
    ("erwart", "expected"),
    ("diharapkan", "expected"),
    ("может", "may"),
    ("puede", "may"),
    ("debería", "should"),
    ("pode", "may"),
    ("deve", "should"),
    ("если", "if"),
    ("tidak", "not"),
    ("não", "not"),
    ("nicht", "not"),
    ("не", "not"),
];

/// A stem with fewer letters must be a whole word, because it also begins other words.
const MIN_STEM: usize = 5;

/// Converts text to lower case and translates its known words. `None` if it contains none.
pub fn english(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let foreign = !lower.is_ascii();
    let mut changed = false;
    let mut out = lower;
    for (sign, word) in [("倍", "x "), ("배", "x ")] {
        changed |= replace_next_to_digit(&mut out, sign, word, false);
    }
    for name in ["percentil ", "percentile ", "перцентиль ", "процентиль "] {
        changed |= replace_next_to_digit(&mut out, name, "p", true);
    }
    for (phrase, word) in PHRASES {
        // Most phrases have letters that are not ASCII.
        if (foreign || phrase.is_ascii()) && out.contains(phrase) {
            out = out.replace(phrase, &format!(" {word} "));
            changed = true;
        }
    }
    let mut translated = String::with_capacity(out.len());
    for part in out.split_inclusive(|letter: char| !letter.is_alphabetic()) {
        let end = part
            .find(|letter: char| !letter.is_alphabetic())
            .unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        match stem(word) {
            Some(known) => {
                translated.push_str(known);
                changed = true;
            }
            None => translated.push_str(word),
        }
        translated.push_str(rest);
    }
    changed.then(|| translated.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// Replaces a sign that follows a digit, or a name that precedes one.
fn replace_next_to_digit(text: &mut String, sign: &str, word: &str, ahead: bool) -> bool {
    if !text.contains(sign) {
        return false;
    }
    let mut out = String::with_capacity(text.len());
    let mut last = 0;
    let mut changed = false;
    for (at, _) in text.match_indices(sign) {
        let (before, after) = (&text[..at], &text[at + sign.len()..]);
        let digit = match ahead {
            true => after.starts_with(|letter: char| letter.is_ascii_digit()),
            false => before
                .trim_end()
                .ends_with(|letter: char| letter.is_ascii_digit()),
        };
        if digit {
            out.push_str(&text[last..at]);
            out.push_str(word);
            last = at + sign.len();
            changed = true;
        }
    }
    out.push_str(&text[last..]);
    *text = out;
    changed
}

fn stem(word: &str) -> Option<&'static str> {
    let long = word.chars().nth(1).is_some();
    let found = STEMS.iter().find(|(stem, _)| {
        let whole = stem.chars().count() < MIN_STEM;
        if whole {
            word == *stem
        } else {
            word.starts_with(stem)
        }
    });
    found.filter(|_| long).map(|(_, word)| *word)
}

#[cfg(test)]
mod tests {
    use super::english;

    #[test]
    fn known_words_become_english() {
        for (text, expected) in [
            ("Средняя задержка (мс)", "average latency (мс)"),
            ("平均延迟", "average latency"),
            ("Tiempo de respuesta promedio", "response time average"),
            ("Время ответа p95", "response time p95"),
            ("Durchschnittliche Antwortzeit", "average response time"),
            ("Latencia percentil 95", "latency p95"),
            ("Redis 比 MySQL 快 3 倍", "redis than mysql 快 3 x"),
        ] {
            assert_eq!(english(text).as_deref(), Some(expected), "{text}");
        }
        for text in ["p95 latency (ms)", "Mode", "nest.js"] {
            assert_eq!(english(text), None, "{text}");
        }
    }
}
