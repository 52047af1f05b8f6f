//! Wildcard patterns: `*`, and for paths also `?` and `[…]`.

/// One step of a pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// This character.
    Exactly(char),
    /// Any number of any characters.
    Anything,
    /// Any one character.
    One,
    /// One character inside of the ranges, or outside of them.
    Class { ranges: Vec<(char, char)>, negated: bool },
}

/// Parses a pattern in which only `*` is a wildcard. `\*` is a literal asterisk and `\\` a literal backslash.
pub(crate) fn stars(pattern: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(escaped @ ('*' | '\\'))) => {
                tokens.push(Token::Exactly(*escaped));
                chars.next();
            }
            ('*', _) => tokens.push(Token::Anything),
            (c, _) => tokens.push(Token::Exactly(c)),
        }
    }
    tokens
}

/// Parses a pattern for paths. `*` also matches slashes, as in the rules of AgentScope.
pub(crate) fn path(pattern: &str) -> Vec<Token> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        at += 1;
        tokens.push(match c {
            '*' => Token::Anything,
            '?' => Token::One,
            '[' => match class(chars.get(at..).unwrap_or_default()) {
                Some((token, length)) => {
                    at += length;
                    token
                }
                None => Token::Exactly('['),
            },
            c => Token::Exactly(c),
        });
    }
    tokens
}

/// Returns a pattern for [`path`] that matches only the text itself: each special character becomes a class of its own.
pub(crate) fn escape_path(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[') {
            pattern.extend(['[', c, ']']);
        } else {
            pattern.push(c);
        }
    }
    pattern
}

/// Parses a class after its opening bracket. Returns it with its length, including the closing bracket.
fn class(chars: &[char]) -> Option<(Token, usize)> {
    let negated = matches!(chars.first(), Some('!' | '^'));
    let start = usize::from(negated);
    // A closing bracket at the start is a member.
    let end = start + 1 + chars.get(start + 1..)?.iter().position(|c| *c == ']')?;
    let members = chars.get(start..end)?;
    let mut ranges = Vec::new();
    let mut at = 0;
    while let Some(&first) = members.get(at) {
        match (members.get(at + 1), members.get(at + 2)) {
            (Some('-'), Some(&last)) => {
                ranges.push((first, last));
                at += 3;
            }
            _ => {
                ranges.push((first, first));
                at += 1;
            }
        }
    }
    Some((Token::Class { ranges, negated }, end + 1))
}

/// Returns whether a pattern matches a whole text.
pub(crate) fn matches(pattern: &[Token], text: &str) -> bool {
    let text: Vec<char> = text.chars().collect();
    let (mut at, mut token) = (0, 0);
    // The position of the last `*`, and the position in the text of the last attempt.
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        let step = pattern.get(token);
        if step == Some(&Token::Anything) {
            star = Some((token, at));
            token += 1;
        } else if step.zip(text.get(at)).is_some_and(|(step, c)| step.accepts(*c)) {
            token += 1;
            at += 1;
        } else if let Some((starred, tried)) = star {
            token = starred + 1;
            at = tried + 1;
            star = Some((starred, at));
        } else {
            return false;
        }
    }
    pattern.get(token..).unwrap_or_default().iter().all(|rest| *rest == Token::Anything)
}

impl Token {
    fn accepts(&self, c: char) -> bool {
        match self {
            Self::Exactly(expected) => *expected == c,
            Self::Anything | Self::One => true,
            Self::Class { ranges, negated } => {
                ranges.iter().any(|(first, last)| (*first..=*last).contains(&c)) != *negated
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn star_matches_anything_unless_escaped() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(matches(&stars(pattern), text), expected, "{pattern} {text}");
        };
        check("git *", "git push", true);
        check("git *", "git", false);
        check("*a*b*", "xxaxxbxx", true);
        check("*a*b", "xbxa", false);
        check(r"echo \*", "echo *", true);
        check(r"echo \*", "echo x", false);
        check(r"a\\b", r"a\b", true);
        check("a?b", "axb", false);
        check("", "", true);
    }

    #[test]
    fn path_patterns_match_classes() {
        let check = |pattern: &str, text: &str, expected: bool| {
            assert_eq!(matches(&path(pattern), text), expected, "{pattern} {text}");
        };
        check("/srv/src/**", "/srv/src/a/b", true);
        check("/srv/src/**", "/srv/other", false);
        check("*.r?", "/a/b.rs", true);
        check("/x[a-c0].txt", "/xb.txt", true);
        check("/x[!a-c].txt", "/xb.txt", false);
        check("/x[]].txt", "/x].txt", true);
        check("/x[y", "/x[y", true);
    }

    #[test]
    #[cfg(feature = "builtin")]
    fn escaped_paths_match_only_themselves() {
        let texts =
            ["/app/[id]", "/app/i", "a*b", "axb", "w?", "wx", "[!a]", "[[]", "[", "[]]", "]", "a-[b-c]", r"\*", ""];
        for text in texts {
            let pattern = escape_path(text);
            for other in texts {
                assert_eq!(matches(&path(&pattern), other), text == other, "{pattern} {other}");
            }
        }
    }
}
