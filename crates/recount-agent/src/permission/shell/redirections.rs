//! Redirections and here-documents.

use super::reader::{HereDocument, Reader};
use super::words::Draft;
use super::{Command, Dialect, Word};

impl Reader {
    /// Whether a redirection stands here, with or without the number of what it redirects.
    pub(super) fn is_redirection(&self) -> bool {
        let mut ahead = 0;
        while self.peek(ahead).is_some_and(|c| c.is_ascii_digit()) {
            ahead += 1;
        }
        match self.peek(ahead) {
            Some('<' | '>') => ahead > 0 || self.peek(1) != Some('('),
            Some('&') => ahead == 0 && self.peek(1) == Some('>'),
            Some(_) | None => false,
        }
    }

    pub(super) fn redirection(&mut self) {
        while self.peek(0).is_some_and(|c| c.is_ascii_digit()) {
            self.at += 1;
        }
        let rest: String = self.chars.iter().skip(self.at).take(3).collect();
        let operators = ["&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<<", "<>", "<&", "<", ">"];
        let Some(operator) = operators.into_iter().find(|operator| rest.starts_with(operator)) else {
            return self.lost("it has a redirection that is not known here");
        };
        if operator.starts_with("&>") && self.dialect == Dialect::Sh {
            return self.lost("it has a redirection that not every shell knows");
        }
        self.at += operator.len();
        self.skip_blanks();
        let start = self.at;
        let (target, draft) = self.word();
        if self.at == start {
            return self.lost("a redirection leads nowhere");
        }
        match operator {
            "<<" | "<<-" => self.document(&draft, operator == "<<-"),
            "<<<" | "<&" => {}
            "<" => self.opens("<", target),
            ">&" if target.text.as_deref().is_some_and(is_descriptor) => {}
            _ => self.opens(">", target),
        }
    }

    /// Notes a file that is read or written, as if a command of that name did so.
    fn opens(&mut self, how: &str, target: Word) {
        let nowhere = ["/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"];
        match target.text.as_deref() {
            Some(path) if nowhere.contains(&path) => {}
            Some(path) if path.starts_with("/dev/tcp/") || path.starts_with("/dev/udp/") => {
                self.vague("it opens a connection");
            }
            Some(_) | None => {
                self.commands.push(Command { words: vec![Word::literal(how), target], ..Command::default() });
            }
        }
    }

    fn document(&mut self, draft: &Draft, strips_tabs: bool) {
        if draft.dynamic || draft.glob {
            return self.lost("it has a here-document whose end is not known");
        }
        self.documents.push(HereDocument { delimiter: draft.text.clone(), quoted: draft.quoted, strips_tabs });
    }

    /// Goes to the next line, past the here-documents that begin there.
    pub(super) fn new_line(&mut self) {
        self.at += 1;
        if self.awaits_document {
            return self.lost("a here-document begins inside of something else");
        }
        for document in std::mem::take(&mut self.documents) {
            self.body(&document);
        }
    }

    fn body(&mut self, document: &HereDocument) {
        let mut body = String::new();
        loop {
            if self.at >= self.chars.len() {
                return self.lost("a here-document has no end");
            }
            let line: String = self.chars.iter().skip(self.at).take_while(|c| **c != '\n').collect();
            self.at = (self.at + line.chars().count() + 1).min(self.chars.len());
            let line = if document.strips_tabs { line.trim_start_matches('\t') } else { line.as_str() };
            if line == document.delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        if document.quoted {
            return;
        }
        if body.contains("\\\n") || (self.dialect == Dialect::Sh && body.contains(['$', '`'])) {
            return self.lost("it has a here-document that is not known here");
        }
        let mut inner = Self::new(&body, self.dialect);
        inner.depth = self.depth + 1;
        inner.expansions();
        self.absorb(inner, None);
    }

    /// The expansions of a here-document, in which quotes are not special.
    fn expansions(&mut self) {
        let mut draft = Draft::default();
        while !self.stopped {
            match self.peek(0) {
                None => return,
                Some('\\') => self.at += 2,
                Some('$') => self.dollar(&mut draft, true),
                Some('`') => {
                    let inner = self.chars.iter().skip(self.at + 1).take_while(|c| **c != '`');
                    if inner.into_iter().any(|c| *c == '\\') {
                        return self.lost("it has a here-document that is not known here");
                    }
                    self.backticks(&mut draft, false);
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

fn is_descriptor(text: &str) -> bool {
    text == "-" || (!text.is_empty() && text.trim_end_matches('-').chars().all(|c| c.is_ascii_digit()))
}
