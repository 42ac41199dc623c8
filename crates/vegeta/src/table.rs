/// Formats cells in columns with two spaces between them. The last cell of a row is not padded.
pub(crate) fn columns(rows: &[Vec<String>]) -> String {
    let mut widths: Vec<usize> = Vec::new();
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            let width = cell.chars().count() + 2;
            match widths.get_mut(place) {
                Some(widest) => *widest = width.max(*widest),
                None => widths.push(width),
            }
        }
    }
    let mut text = String::new();
    for row in rows {
        for (place, (cell, width)) in row.iter().zip(&widths).enumerate() {
            text.push_str(cell);
            if place + 1 < row.len() {
                let spaces = width - cell.chars().count();
                text.extend(std::iter::repeat_n(' ', spaces));
            }
        }
        text.push('\n');
    }
    text
}
