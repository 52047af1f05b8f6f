//! Notices of the program itself, wrapped to the width of the terminal.

use anstyle::Style;

use super::paint::{PLAIN, Paint};
use super::size;
use super::wrap::{Margin, Span, width_of, wrap};

/// On a terminal with fewer columns, a description is on the line below its name.
const NARROW: usize = 60;

/// Formats styled text, wrapped between words.
pub(in super::super) fn format_notice(parts: &[(Style, &str)], paint: Paint) -> String {
    let spans: Vec<Span> = parts.iter().map(|(style, text)| Span::new(*style, *text)).collect();
    wrap(&spans, columns(), Margin::new("", ""), paint).join("\n")
}

/// Formats names and their descriptions as a list.
pub(in super::super) fn format_list(entries: &[(&str, &str)], paint: Paint) -> String {
    let columns = columns();
    let widest = entries.iter().map(|(name, _)| width_of(name)).max().unwrap_or_default() + 2;
    let mut lines = Vec::new();
    for (name, meaning) in entries {
        let meaning = [Span::new(PLAIN, *meaning)];
        if columns < NARROW {
            lines.push((*name).to_owned());
            lines.extend(wrap(&meaning, columns, Margin::new("    ", "    "), paint));
        } else {
            let name = format!("{name:<widest$}");
            lines.extend(wrap(&meaning, columns, Margin::new(&name, &" ".repeat(widest)), paint));
        }
    }
    lines.join("\n")
}

fn columns() -> usize {
    // Leave the last column free: terminals differ in where a full line puts the cursor.
    size().columns.saturating_sub(1)
}
