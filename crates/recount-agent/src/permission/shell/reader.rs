//! Reading a script: lists, compound commands and simple ones.
//!
//! The reader finds at least what a shell would run. It does not check that `if` has its `fi`: a script that a shell
//! refuses runs nothing, so taking such words for mere separators can only find too much.

use super::read_only::PURE;
use super::words::Draft;
use super::{Command, Dialect, Script, Word, base_name, variables, wrappers};

/// Scripts in scripts and lists in lists, at most.
pub(super) const MAX_DEPTH: usize = 24;

/// What ends a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ends {
    Script,
    Parenthesis,
    /// `;;` or `esac`.
    Clause,
}

/// A here-document whose text begins at the next line.
#[derive(Debug)]
pub(super) struct HereDocument {
    pub(super) delimiter: String,
    pub(super) quoted: bool,
    pub(super) strips_tabs: bool,
}

#[derive(Debug)]
pub(super) struct Reader {
    pub(super) chars: Vec<char>,
    pub(super) at: usize,
    pub(super) dialect: Dialect,
    pub(super) commands: Vec<Command>,
    pub(super) unclear: Option<String>,
    /// What follows cannot be read.
    pub(super) stopped: bool,
    pub(super) depth: usize,
    pub(super) documents: Vec<HereDocument>,
    /// A here-document of an enclosing list has not begun yet.
    pub(super) awaits_document: bool,
}

impl Reader {
    pub(super) fn new(text: &str, dialect: Dialect) -> Self {
        Self {
            chars: text.chars().collect(),
            at: 0,
            dialect,
            commands: Vec::new(),
            unclear: None,
            stopped: false,
            depth: 0,
            documents: Vec::new(),
            awaits_document: false,
        }
    }

    pub(super) fn read(mut self) -> Self {
        if self.chars.len() > Script::MAX_LENGTH {
            self.lost("it is too long to be looked into");
        } else if self.chars.iter().any(|c| c.is_control() && !"\t\n".contains(*c)) {
            self.lost("it has control characters");
        } else {
            self.list(Ends::Script);
        }
        self
    }

    pub(super) fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    /// Something about it cannot be told. What follows still can be read.
    pub(super) fn vague(&mut self, why: &str) {
        self.unclear.get_or_insert_with(|| why.to_owned());
    }

    /// What follows cannot be read.
    pub(super) fn lost(&mut self, why: &str) {
        self.vague(why);
        self.stopped = true;
    }

    /// Reads a list that stands inside of something.
    pub(super) fn nested(&mut self, ends: Ends) {
        if self.depth >= MAX_DEPTH {
            return self.lost("it is nested too deeply");
        }
        let documents = std::mem::take(&mut self.documents);
        let awaited = self.awaits_document;
        self.awaits_document |= !documents.is_empty();
        self.depth += 1;
        self.list(ends);
        self.depth -= 1;
        if !self.documents.is_empty() {
            self.lost("a here-document begins inside of something else");
        }
        self.awaits_document = awaited;
        self.documents = documents;
    }

    /// Reads another script that this one runs.
    pub(super) fn script(&mut self, text: &str, dialect: Dialect, within: Option<(usize, usize)>) {
        if self.depth >= MAX_DEPTH {
            return self.vague("it is nested too deeply");
        }
        let mut inner = Self::new(text, dialect);
        inner.depth = self.depth + 1;
        self.absorb(inner.read(), within);
    }

    pub(super) fn absorb(&mut self, inner: Self, within: Option<(usize, usize)>) {
        let offset = self.commands.len();
        self.commands.extend(inner.commands.into_iter().map(|mut command| {
            command.within = command.within.map(|(outer, at)| (outer + offset, at)).or(within);
            command
        }));
        if let Some(why) = inner.unclear {
            self.vague(&why);
        }
    }

    fn list(&mut self, ends: Ends) {
        while !self.stopped {
            self.skip_blanks();
            match self.peek(0) {
                None if ends == Ends::Script && self.documents.is_empty() => return,
                None => self.lost("something is not closed"),
                Some('\n') => self.new_line(),
                Some('#') => self.skip_comment(),
                Some(';') if self.peek(1).is_some_and(|c| c == ';' || c == '&') => {
                    self.at += 2;
                    if self.peek(0) == Some('&') {
                        self.at += 1;
                    }
                    if ends == Ends::Clause {
                        return;
                    }
                    self.lost("`;;` stands outside of `case`");
                }
                Some('&') if self.peek(1) == Some('>') => self.simple_command(),
                Some(';' | '&' | '|') => self.at += 1,
                Some('(') if self.peek(1) == Some('(') => self.lost("it has arithmetic"),
                Some('(') => {
                    self.at += 1;
                    self.nested(Ends::Parenthesis);
                }
                Some(')') if ends == Ends::Parenthesis && self.documents.is_empty() => {
                    self.at += 1;
                    return;
                }
                Some(')') => self.lost("a parenthesis closes nothing"),
                Some(_) => {
                    let before = self.at;
                    if self.is_word("esac") {
                        if ends == Ends::Clause {
                            return;
                        }
                        self.lost("`esac` stands outside of `case`");
                    } else if !self.compound() {
                        self.simple_command();
                    }
                    if self.at == before {
                        self.lost("it is no command");
                    }
                }
            }
        }
    }

    /// A variable is set that may disturb what follows.
    pub(super) fn sets(&mut self, name: &str, shown: &str) {
        if !variables::is_harmless(name) {
            self.vague("it sets a variable that may change what programs do");
            let command =
                Command { words: vec![Word::literal(shown)], disturbing: vec![name.to_owned()], ..Command::default() };
            self.commands.push(command);
        }
    }

    fn simple_command(&mut self) {
        let mut command = Command::default();
        let mut assignments = Vec::new();
        let mut begun = false;
        let mut spread = None;
        while !self.stopped {
            self.skip_blanks();
            match self.peek(0) {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if self.peek(1) != Some('>') => break,
                Some('#') => self.skip_comment(),
                Some('(') if command.words.len() == 1 && !begun => return self.parentheses(),
                Some('(') => self.lost("it has a parenthesis in the middle of a command"),
                Some(_) if self.is_redirection() => {
                    begun = true;
                    self.redirection();
                }
                Some(_) => {
                    let start = self.at;
                    let (word, draft) = self.word();
                    if self.at == start {
                        self.lost("it is no command");
                    } else if command.words.is_empty() && is_assignment(&draft) {
                        begun = true;
                        self.assignment(&draft);
                        self.may_spread(&draft, &word);
                        assignments.push((variables::assigned(draft.plain()).to_owned(), word));
                    } else {
                        if draft.glob && draft.dynamic {
                            spread.get_or_insert_with(|| word.clone());
                        }
                        command.words.push(word);
                    }
                }
            }
        }
        // Other commands are judged by such a word themselves.
        if let Some(word) =
            spread.filter(|_| command.name().is_some_and(|name| name == "printf" || PURE.contains(&name)))
        {
            self.looks_up(word);
        }
        if command.words.is_empty() {
            for (name, word) in assignments {
                self.sets(&name, &word.raw);
            }
            return;
        }
        command
            .disturbing
            .extend(assignments.into_iter().map(|(name, _)| name).filter(|name| !variables::is_harmless(name)));
        variables::note_declared(&mut command);
        self.run(command);
    }

    /// A command was found: notes it, and what it runs itself.
    pub(super) fn run(&mut self, command: Command) {
        match command.name() {
            None => self.vague("the name of a command is known only when it runs"),
            Some(name) if base_name(name).is_empty() || name.contains(['<', '>']) => {
                self.vague("a command has an odd name");
            }
            Some(_) => {}
        }
        if !command.disturbing.is_empty() {
            self.vague("it sets a variable that may change what programs do");
        }
        if variables::evaluates(&command) {
            self.vague("it may run what stands in the index of an array");
        }
        self.commands.push(command);
        wrappers::unwrap(self, self.commands.len() - 1);
    }

    /// The shell itself looks at the files that a word names, as if it read from them.
    pub(super) fn looks_up(&mut self, word: Word) {
        self.commands.push(Command { words: vec![Word::literal("<"), word], ..Command::default() });
    }

    /// What is set to a pattern becomes the names of files where it is used.
    fn may_spread(&mut self, draft: &Draft, word: &Word) {
        let value = |text: &str| text.split_once('=').map(|(_, value)| value.to_owned()).unwrap_or_default();
        let is_pattern = |value: &str| value.contains(['*', '?', '[']);
        let value = match word.text.as_deref().or(word.glob.as_deref()) {
            Some(text) => Some(value(text)).filter(|value| is_pattern(value)),
            None if is_pattern(&value(&draft.text)) => None,
            None => return,
        };
        match value {
            Some(glob) => self.looks_up(Word { text: None, raw: glob.clone(), glob: Some(glob) }),
            None if word.text.is_none() && word.glob.is_none() => self.looks_up(word.clone()),
            None => {}
        }
    }

    fn assignment(&mut self, draft: &Draft) {
        if self.peek(0) == Some('(') || draft.plain().contains('[') {
            self.lost("it sets an array");
        }
    }

    pub(super) fn some_word(&mut self) {
        let start = self.at;
        self.word();
        if self.at == start {
            self.lost("a word is missing");
        }
    }

    /// Whether exactly this word, without quotes, stands here.
    pub(super) fn is_word(&self, word: &str) -> bool {
        let length = word.len();
        word.chars().enumerate().all(|(ahead, c)| self.peek(ahead) == Some(c))
            && self.peek(length).is_none_or(|c| " \t\n;&|<>()".contains(c))
    }

    pub(super) fn skip_blanks(&mut self) {
        loop {
            match (self.peek(0), self.peek(1)) {
                (Some(' ' | '\t'), _) => self.at += 1,
                (Some('\\'), Some('\n')) => self.at += 2,
                _ => return,
            }
        }
    }

    pub(super) fn skip_blank_lines(&mut self) {
        while !self.stopped {
            self.skip_blanks();
            match self.peek(0) {
                Some('\n') => self.new_line(),
                Some('#') => self.skip_comment(),
                Some(_) | None => return,
            }
        }
    }

    fn skip_comment(&mut self) {
        while self.peek(0).is_some_and(|c| c != '\n') {
            self.at += 1;
        }
    }
}

/// Whether a word at the beginning of a command sets a variable.
fn is_assignment(draft: &Draft) -> bool {
    let plain = draft.plain();
    let name: String = plain.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
    let rest = plain.strip_prefix(name.as_str()).unwrap_or_default();
    variables::is_name(&name) && (rest.starts_with('=') || rest.starts_with("+=") || rest.starts_with('['))
}
