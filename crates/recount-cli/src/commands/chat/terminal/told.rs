//! What the program itself says, in lines that fit.

use anstyle::Style;

use super::paint::{PLAIN, Paint};
use super::size;
use super::wrap::{Margin, Span, width_of, wrap};

/// Where a terminal is narrower than this, what is explained stands below its name.
const NARROW: usize = 60;

/// Words in styles, broken between words where a line is full.
pub(in super::super) fn told(parts: &[(Style, &str)], paint: Paint) -> String {
    let spans: Vec<Span> = parts.iter().map(|(style, text)| Span::new(*style, *text)).collect();
    wrap(&spans, columns(), Margin::new("", ""), paint).join("\n")
}

/// Names with what they mean, below each other.
pub(in super::super) fn listed(entries: &[(&str, &str)], paint: Paint) -> String {
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
    // A full line would put the cursor where terminals differ.
    size().columns.saturating_sub(1)
}
