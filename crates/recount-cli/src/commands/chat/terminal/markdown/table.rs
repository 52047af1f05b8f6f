//! Tables, as wide as there is room for.

use super::super::paint::DIMMED;
use super::super::wrap::{Margin, Span, broken, cut, painted, width_of, wrap};
use super::{Page, Table};

/// A column is not made narrower than this. Where there are too many of them, a row is broken like any other text.
const NARROWEST: usize = 6;
/// What stands between two columns.
const BETWEEN: &str = " │ ";

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
                    let between = Span::new(DIMMED, BETWEEN);
                    let spans: Vec<Span> = row.join(&between);
                    self.lines.extend(wrap(&spans, self.width, Margin::new(edge, &rest), self.paint));
                }
            }
            if index == 0 {
                let rule: Vec<String> = widths.iter().flatten().map(|width| "─".repeat(*width)).collect();
                let rule = if rule.is_empty() { "─".repeat(self.width) } else { rule.join("─┼─") };
                let rule = cut(&rule, self.width.saturating_sub(width_of(&rest)));
                self.lines.push(format!("{rest}{}", self.paint.on(DIMMED, &rule)));
            }
        }
        self.use_markers();
        self.is_apart = true;
    }

    /// A row, each of its cells broken within its column.
    fn row(&mut self, cells: &[Vec<Span>], widths: &[usize], edge: &str, rest: &str) {
        let cells: Vec<_> = cells.iter().zip(widths).map(|(cell, width)| broken(cell, *width)).collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        for index in 0..height {
            let mut line = if index == 0 { edge.to_owned() } else { rest.to_owned() };
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                let part = cell.get(index).map(Vec::as_slice).unwrap_or_default();
                if column > 0 {
                    line.push_str(&self.paint.on(DIMMED, BETWEEN));
                }
                line.push_str(&painted(part, self.paint));
                // What is left of the last column is not filled: it might break the line.
                if column + 1 < cells.len() {
                    let taken: usize = part.iter().map(|(char, _)| width_of(char.encode_utf8(&mut [0; 4]))).sum();
                    line.push_str(&" ".repeat(width.saturating_sub(taken)));
                }
            }
            self.lines.push(line);
        }
    }
}

/// How wide the columns are: as wide as what is in them, but the widest ones no wider than there is room for. Nothing where
/// there is too little of it.
fn widths(table: &Table, room: usize) -> Option<Vec<usize>> {
    let width_of_cell = |cell: &Vec<Span>| -> usize { cell.iter().map(|span| width_of(&span.text)).sum() };
    let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
    let widest = |column: usize| table.rows.iter().filter_map(|row| row.get(column)).map(width_of_cell).max();
    let widths: Vec<usize> = (0..columns).map(|column| widest(column).unwrap_or_default()).collect();
    let room = room.checked_sub(width_of(BETWEEN) * columns.saturating_sub(1))?;
    let within = |most: usize| -> usize { widths.iter().map(|width| (*width).min(most)).sum() };
    let most = (NARROWEST..=room).rev().find(|most| within(*most) <= room)?;
    Some(widths.into_iter().map(|width| width.min(most)).collect())
}
