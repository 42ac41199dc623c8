//! The stored inputs: `fuzz/corpora/<target>.txt`, one input per line, escaped so that it can be read and compared.

/// Decodes one line. Printable ASCII is literal; `\\`, `\n`, `\r`, `\t` and `\xNN` are escapes.
///
/// # Errors
/// At an unknown escape, or a character that should have been escaped.
pub fn decode_line(line: &str) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(line.len());
    let mut rest = line.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'\\' => match rest.next() {
                Some(b'\\') => b'\\',
                Some(b'n') => b'\n',
                Some(b'r') => b'\r',
                Some(b't') => b'\t',
                Some(b'x') => hex_digit(rest.next())? << 4 | hex_digit(rest.next())?,
                other => return Err(format!("unknown escape {:?}", other.map(char::from))),
            },
            b' '..=b'~' => byte,
            _ => return Err(format!("byte {byte:#04x} is not escaped")),
        });
    }
    Ok(bytes)
}

fn hex_digit(byte: Option<u8>) -> Result<u8, String> {
    byte.and_then(|byte| char::from(byte).to_digit(16))
        .and_then(|digit| u8::try_from(digit).ok())
        .ok_or_else(|| "\\x needs two hexadecimal digits".to_owned())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::TARGETS;

    #[test]
    fn escapes_are_decoded() {
        assert_eq!(
            decode_line(r"a\\\n\r\t\x00\xff~"),
            Ok(b"a\\\n\r\t\0\xff~".to_vec())
        );
        for broken in [r"\q", r"\x1", r"\xzz", "\\", "\t", "é"] {
            assert!(decode_line(broken).is_err(), "{broken:?}");
        }
    }

    /// Every input that libFuzzer found worth keeping, and every one that once broke a target.
    #[test]
    fn no_stored_input_makes_its_target_panic() {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
        for target in TARGETS {
            target.seeds.iter().for_each(|seed| (target.run)(seed));
            let file = corpora.join(target.name).with_extension("txt");
            let kept = std::fs::read_to_string(&file)
                .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
            for (index, line) in kept.lines().enumerate() {
                let input = decode_line(line)
                    .unwrap_or_else(|error| panic!("{}:{}: {error}", file.display(), index + 1));
                (target.run)(&input);
            }
        }
    }

    #[test]
    fn every_file_of_kept_inputs_belongs_to_a_target() {
        let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
        for entry in std::fs::read_dir(corpora).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            assert!(crate::target::named(&name).is_some(), "{}", path.display());
        }
    }
}
