//! The live region at the end of the terminal output.

use std::io::{self, Write};

use anstream::adapter::strip_str;

use super::size::Size;
use super::wrap::width_of;

/// Writes finished lines, and below them live lines that may still change. Unchanged text is not written again, to
/// avoid flicker.
#[derive(Debug)]
pub(in super::super) struct Screen<W> {
    out: W,
    live: Vec<String>,
}

impl<W: Write> Screen<W> {
    pub(in super::super) fn new(out: W) -> Self {
        Self { out, live: Vec::new() }
    }

    /// Replaces the live lines by finished lines followed by new live lines, on a terminal of the given size.
    pub(in super::super) fn draw(&mut self, done: Vec<String>, live: Vec<String>, size: Size) -> io::Result<()> {
        let length = done.len();
        let mut lines = done;
        lines.extend(live);
        let text =
            if self.has_wrapped_lines(size) { self.redraw(&lines, size) } else { self.update(&lines, size.rows) };
        let is_done = lines.len() == length;
        self.live = lines.split_off(length);
        if text.is_empty() && !(is_done && length > 0) {
            return Ok(());
        }
        self.out.write_all(text.as_bytes())?;
        if is_done && length > 0 {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }

    /// Returns whether the terminal has become too narrow for a live line, so that it wraps.
    fn has_wrapped_lines(&self, size: Size) -> bool {
        self.live.iter().any(|line| height(line, size.columns) > 1)
    }

    /// Returns the output that erases all live lines, wherever they are now, and writes the new lines.
    fn redraw(&self, lines: &[String], size: Size) -> String {
        let height: usize = self.live.iter().map(|line| height(line, size.columns)).sum();
        let up = height.saturating_sub(1).min(size.rows.saturating_sub(1));
        let above = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
        format!("{above}\r\x1b[J{}", lines.join("\n"))
    }

    /// Returns the output that replaces the live lines by the new lines. Writes only lines that changed.
    fn update(&self, lines: &[String], rows: usize) -> String {
        let old = &self.live;
        let mut text = String::new();
        let same = old.iter().zip(lines).take_while(|(old, new)| old == new).count();
        // Lines that have scrolled off the screen cannot be rewritten.
        let same = same.max(old.len().saturating_sub(rows.saturating_sub(1).max(1)));
        let Some(last) = old.len().checked_sub(1) else {
            text.push_str(&lines.join("\n"));
            return text;
        };
        if same > last {
            for line in lines.get(same..).unwrap_or_default() {
                text.push('\n');
                text.push_str(line);
            }
            return text;
        }
        let up = last - same;
        if up > 0 {
            text.push_str(&format!("\x1b[{up}A"));
        }
        let mut changed = lines.get(same..).unwrap_or_default().iter();
        let appended = match (changed.as_slice().first(), old.get(same)) {
            (Some(new), Some(old)) if up == 0 => new.strip_prefix(old.as_str()),
            _ => None,
        };
        match appended {
            Some(appended) => {
                changed.next();
                text.push_str(appended);
            }
            None => {
                text.push('\r');
                if let Some(line) = changed.next() {
                    text.push_str(line);
                    text.push_str("\x1b[K");
                }
            }
        }
        for line in changed {
            text.push('\n');
            text.push_str(line);
            text.push_str("\x1b[K");
        }
        if lines.len() < old.len() {
            text.push_str("\x1b[J");
        }
        text
    }
}

/// Returns how many rows a line takes after the terminal was resized.
fn height(line: &str, columns: usize) -> usize {
    width_of(&strip_str(line).to_string()).div_ceil(columns.max(1)).max(1)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    /// Draws a sequence of (done, live) and returns the output of each step.
    fn drawn(rows: usize, steps: &[(&str, &str)]) -> Vec<String> {
        let mut screen = Screen::new(Vec::new());
        let mut written = Vec::new();
        for (done, live) in steps {
            screen.draw(lines(done), lines(live), Size { columns: 80, rows }).unwrap();
            written.push(String::from_utf8(std::mem::take(&mut screen.out)).unwrap());
        }
        written
    }

    #[test]
    fn draw_writes_only_new_text() {
        assert_eq!(drawn(24, &[("", "one"), ("", "one two"), ("", "one two")]), ["one", " two", ""]);
        assert_eq!(drawn(24, &[("", "one"), ("", "one\ntwo"), ("", "one\ntwo three")]), ["one", "\ntwo", " three"]);
    }

    #[test]
    fn draw_keeps_finished_lines() {
        assert_eq!(drawn(24, &[("", "one"), ("one", ""), ("", "two")]), ["one", "\n", "two"]);
        assert_eq!(drawn(24, &[("", "one"), ("one", "two"), ("", "two!")]), ["one", "\ntwo", "!"]);
    }

    #[test]
    fn draw_overwrites_changed_lines() {
        assert_eq!(drawn(24, &[("", "a\nb\nc"), ("", "a\nx\nc")])[1], "\x1b[1A\rx\x1b[K\nc\x1b[K");
        assert_eq!(drawn(24, &[("", "a\nb"), ("", "c")])[1], "\x1b[1A\rc\x1b[K\x1b[J");
        assert_eq!(drawn(24, &[("", "a"), ("", "")])[1], "\r\x1b[J");
    }

    #[test]
    fn draw_leaves_scrolled_lines_alone() {
        assert_eq!(drawn(3, &[("", "a\nb\nc\nd"), ("", "x\ny\nz\nw")])[1], "\x1b[1A\rz\x1b[K\nw\x1b[K");
    }

    #[test]
    fn draw_overwrites_lines_wrapped_by_a_narrower_terminal() {
        let mut screen = Screen::new(Vec::new());
        let mut draw = |live: &str, columns| {
            screen.draw(Vec::new(), lines(live), Size { columns, rows: 24 }).unwrap();
            String::from_utf8(std::mem::take(&mut screen.out)).unwrap()
        };
        draw("\x1b[1mone two\x1b[0m three\nfour", 20);
        // The first line now takes two rows, so it begins two rows above.
        assert_eq!(draw("one two\nthree\nfour", 8), "\x1b[2A\r\x1b[Jone two\nthree\nfour");
        assert_eq!(draw("one two\nthree\nfour!", 8), "!");
    }
}
