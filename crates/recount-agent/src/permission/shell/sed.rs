//! Programs of `sed`.

/// Whether a program may run commands: `e` does, and so does the flag `e` of `s`. One that cannot be read may.
///
/// Files that it writes are its own affair: a rule about `sed` is about them too.
pub(super) fn may_run(program: &str) -> bool {
    Program { chars: program.chars().collect(), at: 0 }.is_harmless() != Some(true)
}

/// `10,20p`: every other program may write files or run commands.
pub(super) fn prints_lines(program: &str) -> bool {
    let Some(lines) = program.strip_suffix('p') else { return false };
    lines.split(',').count() <= 2 && lines.chars().all(|c| c.is_ascii_digit() || c == ',' || c == '$')
}

/// Whether a program is one substitution, which neither runs nor writes anything else.
pub(super) fn substitutes(program: &str) -> bool {
    let mut program = Program { chars: program.chars().collect(), at: 0 };
    let is_one = program.next() == Some('s') && program.parts().is_some();
    is_one && program.rest().iter().all(|flag| "gpiI0123456789".contains(*flag))
}

struct Program {
    chars: Vec<char>,
    at: usize,
}

impl Program {
    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += 1;
        Some(c)
    }

    fn rest(&self) -> &[char] {
        self.chars.get(self.at..).unwrap_or_default()
    }

    fn skip(&mut self, skipped: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&skipped) {
            self.at += 1;
        }
    }

    /// Nothing, or no, where a command is run or cannot be read.
    fn is_harmless(&mut self) -> Option<bool> {
        loop {
            self.skip(|c| c.is_whitespace() || ";{}".contains(c));
            if self.peek().is_none() {
                return Some(true);
            }
            self.addresses()?;
            match self.next()? {
                '#' | 'r' | 'R' | 'w' | 'W' => self.skip(|c| c != '\n'),
                '{' | '}' => {}
                '=' | 'd' | 'D' | 'g' | 'G' | 'h' | 'H' | 'n' | 'N' | 'p' | 'P' | 'x' | 'z' | 'F' => self.end()?,
                'q' | 'Q' | 'l' | 'L' => {
                    self.skip(|c| c == ' ' || c.is_ascii_digit());
                    self.end()?;
                }
                ':' | 'b' | 't' | 'T' => self.skip(|c| !";\n}".contains(c)),
                'a' | 'i' | 'c' => self.text(),
                's' => {
                    self.parts()?;
                    self.skip(|c| "gpiImM0123456789".contains(c));
                    if self.peek() == Some('w') {
                        self.skip(|c| c != '\n');
                    }
                    self.end()?;
                }
                'y' => {
                    self.parts()?;
                    self.end()?;
                }
                _ => return Some(false),
            }
        }
    }

    /// The lines that a command is about.
    fn addresses(&mut self) -> Option<()> {
        loop {
            match self.peek() {
                Some('0'..='9' | '$' | ',' | '+' | '~' | '!' | ' ') => self.at += 1,
                Some('/') => self.delimited('/')?,
                Some('\\') => {
                    self.at += 1;
                    let delimiter = self.peek()?;
                    self.delimited(delimiter)?;
                }
                // They stand after an expression, and mean nothing else here.
                Some('I' | 'M') => self.at += 1,
                _ => return Some(()),
            }
        }
    }

    /// `/…/`, or the same between two others.
    fn delimited(&mut self, delimiter: char) -> Option<()> {
        self.at += 1;
        self.until(delimiter)
    }

    /// `/…/…/` after `s` or `y`.
    fn parts(&mut self) -> Option<()> {
        let delimiter = self.next().filter(|c| !c.is_alphanumeric() && !c.is_whitespace() && *c != '\\')?;
        self.until(delimiter)?;
        self.until(delimiter)
    }

    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut is_in_class = false;
        loop {
            match self.next()? {
                '\\' => drop(self.next()?),
                '\n' => return None,
                // Within a class it ends the expression for one `sed` and not for another.
                c if c == delimiter => return (!is_in_class).then_some(()),
                '[' => is_in_class = true,
                ']' => is_in_class = false,
                _ => {}
            }
        }
    }

    /// The text of a command, to the end of its last line.
    fn text(&mut self) {
        while let Some(c) = self.next() {
            match c {
                '\\' => drop(self.next()),
                '\n' => return,
                _ => {}
            }
        }
    }

    /// Nothing follows but the next command.
    fn end(&mut self) -> Option<()> {
        self.skip(|c| c == ' ');
        self.peek().is_none_or(|c| ";\n}#".contains(c)).then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_run_nothing_are_told_from_those_that_may() {
        for program in [
            "s/a/b/",
            "s|a\\|b|c|gI; 3,5d",
            "/x/,$!{ s/y/z/2p; p }",
            "$!N;P;D",
            "1~2p;10q",
            "/start/,/end/{//!d}",
            "\\,x,d",
            "a\\\nexec\nd",
            "i text with e",
            "y/abc/def/;=",
            ":a;N;$!ba;s/\\n/ /g",
            "# e\np",
            "s/[a-z]/x/w out",
            "r file",
            "",
        ] {
            assert!(!may_run(program), "{program}");
        }
        for program in [
            "e",
            "1e id",
            "s/a/b/e",
            "s/a/b/ge",
            "p;e id",
            "/x/e",
            "{e\n}",
            "a text\ne id",
            "s/a/b",
            "k",
            "s/[/]e/x/",
            "pe",
        ] {
            assert!(may_run(program), "{program}");
        }
    }

    #[test]
    fn the_simplest_programs_are_known() {
        assert!(prints_lines("5p") && prints_lines("1,$p") && !prints_lines("1,2,3p") && !prints_lines("1w x"));
        assert!(substitutes("s/a/b/g") && substitutes("s|a\\|b|c|") && !substitutes("s/a/b/e"));
        assert!(!substitutes("s/a/b/w x") && !substitutes("s/a/b") && !substitutes("1e rm"));
    }
}
