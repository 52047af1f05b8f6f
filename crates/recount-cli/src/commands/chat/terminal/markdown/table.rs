//! Renders tables, fitted to the available width.

use super::super::paint::DIMMED;
use super::super::wrap::{Margin, Span, break_lines, paint_chars, truncate, width_of, wrap};
use super::{Page, Table};

/// The minimum column width. If there are too many columns, rows are wrapped like text.
const MIN_COLUMN_WIDTH: usize = 6;
/// The column separator.
const SEPARATOR: &str = " │ ";

impl Page {
    pub(super) fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let (first, rest) = self.margins();
        let widths = widths(&table, self.width.saturating_sub(width_of(&rest)));
        for (index, row) in table.rows.iter().enumerate() {
            let edge = if index == 0 { &first } else { &rest };
            match &widths {
                Some(widths) => self.row(row, widths, edge, &rest),
                None => {
                    let separator = Span::new(DIMMED, SEPARATOR);
                    let spans: Vec<Span> = row.join(&separator);
                    self.lines.extend(wrap(&spans, self.width, Margin::new(edge, &rest), self.paint));
                }
            }
            if index == 0 {
                let rule: Vec<String> = widths.iter().flatten().map(|width| "─".repeat(*width)).collect();
                let rule = if rule.is_empty() { "─".repeat(self.width) } else { rule.join("─┼─") };
                let rule = truncate(&rule, self.width.saturating_sub(width_of(&rest)));
                self.lines.push(format!("{rest}{}", self.paint.on(DIMMED, &rule)));
            }
        }
        self.use_markers();
        self.needs_gap = true;
    }

    /// Adds a row. Each cell is wrapped within its column.
    fn row(&mut self, cells: &[Vec<Span>], widths: &[usize], edge: &str, rest: &str) {
        let cells: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| break_lines(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        for index in 0..height {
            let mut line = if index == 0 { edge.to_owned() } else { rest.to_owned() };
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let part = cell.get(index).map(Vec::as_slice).unwrap_or_default();
                if column > 0 {
                    line.push_str(&self.paint.on(DIMMED, SEPARATOR));
                }
                line.push_str(&paint_chars(part, self.paint));
                // Do not pad the last column: the line might wrap.
                if column + 1 < cells.len() {
                    let taken: usize = part.iter().map(|(char, _)| width_of(char.encode_utf8(&mut [0; 4]))).sum();
                    line.push_str(&" ".repeat(width.saturating_sub(taken)));
                }
            }
            self.lines.push(line);
        }
    }
}

/// Returns the column widths: as wide as the content, but the widest columns are limited to fit into `available`.
/// `None` if there is not enough space.
fn widths(table: &Table, available: usize) -> Option<Vec<usize>> {
    let width_of_cell = |cell: &Vec<Span>| -> usize { cell.iter().map(|span| width_of(&span.text)).sum() };
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| table.rows.iter().filter_map(|row| row.get(column)).map(width_of_cell).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or_default()).collect();
    let available = available.checked_sub(width_of(SEPARATOR) * columns.saturating_sub(1))?;
    let within = |most: usize| -> usize { widths.iter().map(|width| (*width).min(most)).sum() };
    let most = (MIN_COLUMN_WIDTH..=available).rev().find(|most| within(*most) <= available)?;
    Some(widths.into_iter().map(|width| width.min(most)).collect())
}
