//! CSV files that scripts read, through `k6/experimental/csv`.

use plimsoll_k6::pure::csv::Reader;

use super::Target;

pub const TARGET: Target = Target {
    name: "csv_file",
    run,
    seeds: &[
        b",a,b\n1,2\n\"3\",\"4\"\"5\"\n",
        b";a;\"b\nc\"\r\n\r\n;\n",
        b"\ta\tb\n\"x\"y\tz\n",
    ],
    words: &["\"", "\"\"", ",", ";", "\n", "\r\n", "\u{feff}"],
};

/// The first byte is the delimiter.
fn run(data: &[u8]) {
    let Some((&delimiter, text)) = data.split_first() else {
        return;
    };
    let Ok(mut reader) = Reader::new(char::from(delimiter)) else {
        return;
    };
    let mut records = 0;
    while let Ok(Some(record)) = reader.next(text) {
        records += 1;
        assert!(!record.is_empty());
        assert!(
            records <= text.len(),
            "every record takes at least one byte"
        );
    }
}
