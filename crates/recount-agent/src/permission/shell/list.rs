//! The parser of literal lists.

/// Simple commands joined by `&&`, `||`, `;` and `|`, all of whose words are literal.
///
/// This is a small part of the shell language, and the parser rejects everything outside of it: expansions, substitutions,
/// assignments, compound commands, comments, newlines, background jobs, and redirections other than `2>&1` and those to
/// `/dev/null`. Bash and POSIX shells run the commands of such a list, or some of them, with exactly these words.
///
/// ```
/// use recount_agent::permission::shell::CommandList;
///
/// let list = CommandList::parse("cargo test 2>&1 | tail -n 20").unwrap();
/// assert_eq!(list.commands()[1].words(), ["tail", "-n", "20"]);
/// assert!(CommandList::parse("cargo test $(curl example.org)").is_none());
/// assert!(CommandList::parse("cargo test > log").is_none());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandList<'a> {
    commands: Vec<SimpleCommand<'a>>,
}

/// One command of a [literal list](CommandList).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimpleCommand<'a> {
    text: &'a str,
    words: Vec<String>,
}

/// Words that do not name a command, unless they are quoted.
const RESERVED: [&str; 22] = [
    "!", "[[", "]]", "{", "}", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if",
    "in", "select", "then", "time", "until", "while",
];

impl<'a> CommandList<'a> {
    /// The maximum length of a text, in bytes. Longer texts are not parsed.
    pub const MAX_LENGTH: usize = 32 * 1024;

    /// Parses a text. Returns `None` if it is anything but a literal list.
    pub fn parse(text: &'a str) -> Option<Self> {
        if text.len() > Self::MAX_LENGTH || text.chars().any(is_hidden) {
            return None;
        }
        let mut parser = Parser { rest: text };
        let mut commands = vec![parser.command()?];
        while !parser.rest.is_empty() {
            parser.operator()?;
            commands.push(parser.command()?);
        }
        Some(Self { commands })
    }

    /// Returns the commands in the order in which they are written. There is at least one.
    pub fn commands(&self) -> &[SimpleCommand<'a>] {
        &self.commands
    }

    /// Returns whether the list changes the directory and runs a program by a relative path: `cd other && ./run`.
    pub(super) fn runs_programs_elsewhere(&self) -> bool {
        let names = || self.commands.iter().filter_map(|command| command.words.first());
        names().any(|name| matches!(name.as_str(), "cd" | "pushd" | "popd"))
            && names().any(|name| name.contains('/') && !name.starts_with('/'))
    }
}

impl<'a> SimpleCommand<'a> {
    /// Returns the command as it is written, with its redirections.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// Returns the words without their quotes. The first one names the program.
    pub fn words(&self) -> &[String] {
        &self.words
    }

    /// Returns the words joined by one space, with single quotes around those that need quotes.
    pub fn line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quoted_if_needed(word)).collect();
        words.join(" ")
    }
}

/// Returns whether a character is a control character, or one that changes how the text around it is displayed.
pub(super) fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Returns whether a character is literal outside of quotes, in every shell and locale.
fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-./:=,+@%".contains(c)
}

fn quoted_if_needed(word: &str) -> String {
    let is_plain = !word.is_empty() && word.chars().all(is_plain);
    if is_plain { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

struct Parser<'a> {
    rest: &'a str,
}

impl<'a> Parser<'a> {
    /// Parses one command and the blanks around it.
    fn command(&mut self) -> Option<SimpleCommand<'a>> {
        self.skip_blanks();
        let start = self.rest;
        let mut length = 0;
        let mut words = Vec::new();
        let mut may_have_words = true;
        while !self.is_at_operator() {
            if self.rest.starts_with("&>") {
                // Other shells than Bash take this for `&` and `>`, and words behind it for another command.
                may_have_words = false;
            }
            if !self.redirection()? {
                words.push(self.word().filter(|_| may_have_words)?);
            }
            length = start.len() - self.rest.len();
            self.skip_blanks();
        }
        let name = words.first().map(String::as_str)?;
        if name.is_empty() || name.contains('=') || RESERVED.contains(&name) {
            return None;
        }
        Some(SimpleCommand { text: start.get(..length)?, words })
    }

    /// Parses the operator between two commands.
    fn operator(&mut self) -> Option<()> {
        if self.rest.starts_with("|&") || self.rest.starts_with(";&") {
            return None;
        }
        ["&&", "||", "|", ";"].into_iter().any(|operator| self.take(operator)).then_some(())
    }

    fn is_at_operator(&self) -> bool {
        self.rest.is_empty() || self.rest.starts_with([';', '|']) || self.rest.starts_with("&&")
    }

    /// Parses a redirection. Returns `Some(false)` if there is none, and `None` if it is not one of those that are allowed.
    fn redirection(&mut self) -> Option<bool> {
        let is_complete = self.take("2>&1");
        if !is_complete {
            if !["&>", "1>", "2>", ">"].into_iter().any(|operator| self.take(operator)) {
                return Some(false);
            }
            self.skip_blanks();
            if !self.take("/dev/null") {
                return None;
            }
        }
        let is_end = self.rest.is_empty() || self.rest.starts_with([' ', ';', '|', '&']);
        is_end.then_some(true)
    }

    fn word(&mut self) -> Option<String> {
        let start = self.rest;
        let mut word = String::new();
        while let Some(c) = self.rest.chars().next().filter(|c| !" ;|&>".contains(*c)) {
            let rest = self.rest.strip_prefix(c)?;
            if let '\'' | '"' = c {
                let (content, rest) = rest.split_once(c)?;
                if c == '"' && content.contains(['$', '`', '\\', '!']) {
                    return None;
                }
                word.push_str(content);
                self.rest = rest;
            } else if is_plain(c) {
                word.push(c);
                self.rest = rest;
            } else {
                return None;
            }
        }
        let written = start.strip_suffix(self.rest)?;
        // Shells differ in how many digits before `>` are a file descriptor.
        let is_descriptor = self.rest.starts_with('>') && written.bytes().all(|byte| byte.is_ascii_digit());
        (!written.is_empty() && !is_descriptor).then_some(word)
    }

    fn take(&mut self, token: &str) -> bool {
        let rest = self.rest.strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn skip_blanks(&mut self) {
        self.rest = self.rest.trim_start_matches(' ');
    }
}
