//! Words: quotes, expansions, and the substitutions inside of them.

use super::reader::{Ends, Reader};
use super::{Dialect, Word};

/// A word while it is being read.
#[derive(Debug, Default)]
pub(super) struct Draft {
    pub(super) text: String,
    /// It depends on something other than files.
    pub(super) dynamic: bool,
    /// It depends on which files are there.
    pub(super) glob: bool,
    /// Some of it was quoted.
    pub(super) quoted: bool,
    /// How much of `text` stands before the first quote or expansion.
    pub(super) plain: Option<usize>,
    braces: bool,
    /// A character was quoted that would be a pattern otherwise.
    quoted_pattern: bool,
}

impl Draft {
    fn mark_quoted(&mut self) {
        self.quoted = true;
        self.plain.get_or_insert(self.text.len());
    }

    /// A character that stands for itself, whatever it is.
    fn push_quoted(&mut self, c: char) {
        self.quoted_pattern |= "*?[]".contains(c);
        self.text.push(c);
    }

    fn mark_glob(&mut self) {
        self.glob = true;
        self.plain.get_or_insert(self.text.len());
    }

    fn mark_dynamic(&mut self) {
        self.dynamic = true;
        self.plain.get_or_insert(self.text.len());
    }

    /// What stands before the first quote or expansion.
    pub(super) fn plain(&self) -> &str {
        self.text.get(..self.plain.unwrap_or(self.text.len())).unwrap_or_default()
    }
}

impl Reader {
    /// Reads one word, which begins here.
    pub(super) fn word(&mut self) -> (Word, Draft) {
        let start = self.at;
        let mut draft = Draft::default();
        while let Some(c) = self.peek(0) {
            match c {
                ' ' | '\t' | '\n' | ';' | '&' | '|' | ')' => break,
                '<' | '>' if self.peek(1) == Some('(') => self.process_substitution(&mut draft),
                '<' | '>' => break,
                '(' => break,
                '\\' => self.escape(&mut draft),
                '\'' => self.single_quotes(&mut draft),
                '"' => self.double_quotes(&mut draft),
                '$' => self.dollar(&mut draft, false),
                '`' => self.backticks(&mut draft, false),
                '*' | '?' | '[' => {
                    self.at += 1;
                    draft.text.push(c);
                    // `[` by itself is a command.
                    if !(c == '[' && self.word_ends()) {
                        draft.mark_glob();
                    }
                }
                '{' | '}' => {
                    self.at += 1;
                    draft.text.push(c);
                    draft.braces = true;
                }
                _ => {
                    self.at += 1;
                    draft.text.push(c);
                }
            }
            if self.stopped {
                break;
            }
        }
        if draft.braces && (draft.text.contains(',') || draft.text.contains("..")) {
            draft.mark_dynamic();
        }
        // Which of its characters are patterns could not be told any more.
        if draft.glob && draft.quoted_pattern {
            draft.mark_dynamic();
        }
        let raw: String = self.chars.get(start..self.at).unwrap_or_default().iter().collect();
        let text = (!draft.dynamic && !draft.glob).then(|| draft.text.clone());
        let glob = (!draft.dynamic && draft.glob).then(|| draft.text.clone());
        (Word { text, glob, raw }, draft)
    }

    fn word_ends(&self) -> bool {
        self.peek(0).is_none_or(|c| " \t\n;&|<>()".contains(c))
    }

    fn escape(&mut self, draft: &mut Draft) {
        self.at += 1;
        match self.next() {
            Some('\n') => {}
            Some(c) => {
                draft.mark_quoted();
                draft.push_quoted(c);
            }
            None => self.lost("it ends with a backslash"),
        }
    }

    fn single_quotes(&mut self, draft: &mut Draft) {
        self.at += 1;
        draft.mark_quoted();
        loop {
            match self.next() {
                Some('\'') => return,
                Some(c) => draft.push_quoted(c),
                None => return self.lost("a quote is not closed"),
            }
        }
    }

    fn double_quotes(&mut self, draft: &mut Draft) {
        self.at += 1;
        draft.mark_quoted();
        while !self.stopped {
            match self.peek(0) {
                Some('"') => {
                    self.at += 1;
                    return;
                }
                Some('$') => self.dollar(draft, true),
                Some('`') => self.backticks(draft, true),
                Some('\\') => {
                    self.at += 1;
                    match self.next() {
                        Some('\n') => {}
                        Some(c @ ('$' | '`' | '"' | '\\')) => draft.text.push(c),
                        Some(c) => draft.text.extend(['\\', c]),
                        None => self.lost("a quote is not closed"),
                    }
                }
                Some(c) => {
                    self.at += 1;
                    draft.push_quoted(c);
                }
                None => self.lost("a quote is not closed"),
            }
        }
    }

    /// Everything that begins with a dollar sign.
    pub(super) fn dollar(&mut self, draft: &mut Draft, in_quotes: bool) {
        self.at += 1;
        match self.peek(0) {
            Some('(') if self.peek(1) == Some('(') => self.arithmetic(draft),
            Some('(') => {
                self.at += 1;
                draft.mark_dynamic();
                self.nested(Ends::Parenthesis);
            }
            Some('{') => self.braced(draft),
            Some('[') => self.lost("it has arithmetic in an old form"),
            Some('\'') if !in_quotes => self.ansi_quotes(draft),
            Some('"') if !in_quotes => self.lost("it has a quote that is translated"),
            Some(c) if c.is_ascii_alphanumeric() || "_@*#?-$!".contains(c) => {
                draft.mark_dynamic();
                self.at += 1;
                if c.is_ascii_alphabetic() || c == '_' {
                    self.name();
                }
            }
            // A line may be continued between the dollar sign and what belongs to it.
            Some('\\') => self.lost("a dollar sign stands before a backslash"),
            Some(_) | None => draft.text.push('$'),
        }
    }

    /// The rest of a variable's name.
    fn name(&mut self) {
        while self.peek(0).is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            self.at += 1;
        }
    }

    /// Numbers only: the name of a variable in arithmetic may hold code.
    fn arithmetic(&mut self, draft: &mut Draft) {
        self.at += 2;
        draft.mark_dynamic();
        let mut open = 0_usize;
        while let Some(c) = self.next() {
            match c {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                ')' if self.peek(0) == Some(')') => {
                    self.at += 1;
                    return;
                }
                '0'..='9' | ' ' | '+' | '-' | '*' | '/' | '%' | '=' | '!' | '^' | '~' | '?' | ':' | ',' => {}
                _ => break,
            }
        }
        self.lost("it has arithmetic that is more than numbers");
    }

    /// `${name}` and those of its forms that evaluate nothing.
    fn braced(&mut self, draft: &mut Draft) {
        self.at += 1;
        draft.mark_dynamic();
        if self.peek(0) == Some('#') && self.peek(1) != Some('}') {
            self.at += 1;
        }
        match self.peek(0) {
            Some(c) if c.is_ascii_alphabetic() || c == '_' => self.name(),
            Some(c) if c.is_ascii_digit() || "@*#?-$".contains(c) => self.at += 1,
            Some(_) | None => return self.lost("it has an expansion that is not known here"),
        }
        match (self.peek(0), self.peek(1)) {
            (Some('}'), _) => {}
            (Some(':'), Some('-' | '=' | '?' | '+')) => self.at += 2,
            (Some('-' | '=' | '?' | '+' | '#' | '%' | '/' | '^' | ','), _) => self.at += 1,
            _ => return self.lost("it has an expansion that is not known here"),
        }
        while !self.stopped {
            match self.peek(0) {
                Some('}') => {
                    self.at += 1;
                    return;
                }
                Some('$') => self.dollar(draft, true),
                Some('`') => self.backticks(draft, true),
                // Quotes mean other things here than elsewhere, and not the same in every shell.
                Some('\'' | '"' | '\\' | '{' | '\n' | '<' | '>') | None => {
                    self.lost("it has an expansion that is not known here");
                }
                Some(_) => self.at += 1,
            }
        }
    }

    fn ansi_quotes(&mut self, draft: &mut Draft) {
        if self.dialect == Dialect::Sh {
            return self.lost("it has a quote that not every shell knows");
        }
        self.at += 1;
        draft.quoted = true;
        draft.mark_dynamic();
        loop {
            match self.next() {
                Some('\'') => return,
                Some('\\') => {
                    self.at += 1;
                }
                Some(_) => {}
                None => return self.lost("a quote is not closed"),
            }
        }
    }

    pub(super) fn backticks(&mut self, draft: &mut Draft, in_quotes: bool) {
        self.at += 1;
        draft.mark_dynamic();
        let mut inner = String::new();
        loop {
            match self.next() {
                Some('`') => break,
                Some('\\') => match self.next() {
                    Some(c @ ('`' | '\\' | '$')) => inner.push(c),
                    Some('"') if in_quotes => inner.push('"'),
                    Some(c) => inner.extend(['\\', c]),
                    None => return self.lost("a backtick is not closed"),
                },
                Some(c) => inner.push(c),
                None => return self.lost("a backtick is not closed"),
            }
        }
        self.script(&inner, self.dialect, None);
    }

    fn process_substitution(&mut self, draft: &mut Draft) {
        self.at += 2;
        draft.mark_dynamic();
        self.nested(Ends::Parenthesis);
    }
}
