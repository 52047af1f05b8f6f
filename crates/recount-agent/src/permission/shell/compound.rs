//! Compound commands: loops, conditions, `case` and functions.
//!
//! Only what a reserved word has of its own is read here. What stands between them are lists like any other.

use super::read_only::tested;
use super::reader::{Ends, Reader};
use super::{Dialect, Word, variables};

impl Reader {
    /// Reads a reserved word and what only it has. Gives back whether there was one.
    pub(super) fn compound(&mut self) -> bool {
        let start = self.at;
        let word: String = self.chars.iter().skip(start).take_while(|c| !" \t\n;&|<>()".contains(**c)).collect();
        match word.as_str() {
            "if" | "then" | "elif" | "else" | "fi" | "while" | "until" | "do" | "done" | "{" | "}" | "!" => {
                self.at += word.len();
            }
            "time" if self.dialect == Dialect::Bash => {
                self.at += word.len();
                self.skip_blanks();
                if self.is_word("-p") {
                    self.at += 2;
                } else if self.peek(0) == Some('-') {
                    self.lost("`time` has options");
                }
            }
            "for" | "select" => {
                self.at += word.len();
                self.for_loop();
            }
            "case" => {
                self.at += word.len();
                self.case();
            }
            "function" => {
                self.at += word.len();
                self.skip_blanks();
                self.some_word();
                self.parentheses();
            }
            "[[" => {
                self.at += word.len();
                self.conditional();
            }
            "coproc" => self.lost("it has a coprocess"),
            _ => return false,
        }
        true
    }

    fn for_loop(&mut self) {
        self.skip_blanks();
        let (name, _) = self.word();
        match &name.text {
            Some(name) if variables::is_name(name) => self.sets(name, &format!("for {name}")),
            Some(_) | None => return self.lost("it has a loop that is not known here"),
        }
        self.skip_blank_lines();
        if self.peek(0) == Some(';') || self.is_word("do") {
            return;
        }
        if !self.is_word("in") {
            return self.lost("it has a loop that is not known here");
        }
        self.at += 2;
        while !self.stopped {
            self.skip_blanks();
            match self.peek(0) {
                None | Some(';' | '\n') => return,
                Some(_) => {
                    let start = self.at;
                    let (word, draft) = self.word();
                    if self.at == start {
                        self.lost("a word is missing");
                    } else if draft.glob {
                        self.looks_up(word);
                    }
                }
            }
        }
    }

    fn case(&mut self) {
        self.skip_blanks();
        self.some_word();
        self.skip_blank_lines();
        if !self.is_word("in") {
            return self.lost("it has a `case` that is not known here");
        }
        self.at += 2;
        while !self.stopped {
            self.skip_blank_lines();
            if self.peek(0) == Some('(') {
                self.at += 1;
            } else if self.is_word("esac") {
                self.at += 4;
                return;
            }
            self.patterns();
            if !self.stopped {
                self.nested(Ends::Clause);
            }
        }
    }

    fn patterns(&mut self) {
        while !self.stopped {
            self.skip_blanks();
            self.some_word();
            self.skip_blanks();
            match self.next() {
                Some('|') => {}
                Some(')') => return,
                Some(_) | None => self.lost("it has a `case` that is not known here"),
            }
        }
    }

    /// `[[ … ]]`, as far as it evaluates nothing.
    fn conditional(&mut self) {
        if self.dialect == Dialect::Sh {
            return self.lost("it has a condition that not every shell knows");
        }
        let mut words: Vec<Word> = Vec::new();
        while !self.stopped {
            self.skip_blank_lines();
            match (self.peek(0), self.peek(1)) {
                (Some('&'), Some('&')) | (Some('|'), Some('|')) => self.at += 2,
                (Some('(' | ')'), _) => self.at += 1,
                (Some('<' | '>'), Some(next)) if next != '(' => self.at += 1,
                (Some(';' | '&' | '|' | '#') | None, _) => self.lost("it has a condition that is not known here"),
                (Some(_), _) => {
                    if self.is_word("]]") {
                        self.at += 2;
                        let files: Vec<Word> = tested(&words).into_iter().cloned().collect();
                        return files.into_iter().for_each(|file| self.looks_up(file));
                    }
                    let start = self.at;
                    let (word, _) = self.word();
                    let evaluates = ["=~", "-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
                    if self.at == start || evaluates.contains(&word.raw.as_str()) {
                        self.lost("it has a condition that is not known here");
                    }
                    words.push(word);
                }
            }
        }
    }

    /// `()` after the name of a function.
    pub(super) fn parentheses(&mut self) {
        self.skip_blanks();
        if self.peek(0) == Some('(') {
            self.at += 1;
            self.skip_blanks();
            if self.next() != Some(')') {
                self.lost("it has a parenthesis in the middle of a command");
            }
        }
    }
}
