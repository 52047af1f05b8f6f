//! Aligned tables of text.

use unicode_width::UnicodeWidthStr as _;

/// Formats rows with aligned columns, separated by at least two spaces. The first row is the header.
pub(crate) fn table<const COLUMNS: usize>(rows: &[[String; COLUMNS]]) -> String {
    let mut widths = [0; COLUMNS];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.width().max(*width);
        }
    }
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (width, cell) in widths.iter().zip(row) {
            line.push_str(cell);
            line.extend(std::iter::repeat_n(' ', width - cell.width() + 2));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_display_width() {
        let rows = [["ID", "STATUS", "AGENT", "CREATED", "TITLE"], ["chat-7", "idle", "助手", "now", ""]];
        let rows = rows.map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "ID      STATUS  AGENT  CREATED  TITLE\nchat-7  idle    助手   now\n");
    }
}
