//! The pieces of a text, of which nobody says whether each repeats what was before it.

/// A text that comes in pieces: each goes on where the last ended, or each begins from the start. What both readings have in
/// common can be told at once; the rest waits until one of them is ruled out or the whole text comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pieces {
    /// What has been told.
    pub(super) told: String,
    /// What follows if the pieces go on.
    pub(super) going_on: Option<String>,
    /// What follows if the pieces repeat.
    pub(super) repeating: Option<String>,
}

/// How a text ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// What has to be told still.
    pub(super) rest: String,
    /// Whether what was told is not what the text begins with.
    pub(super) is_other: bool,
    /// Whether the pieces have turned out to repeat, where that can be told.
    pub(super) repeats: Option<bool>,
}

impl Default for Pieces {
    fn default() -> Self {
        Self { told: String::new(), going_on: Some(String::new()), repeating: Some(String::new()) }
    }
}

impl Pieces {
    /// Adds a piece. The result is what can be told.
    pub(super) fn add(&mut self, piece: &str, repeats: bool) -> String {
        let repeating = self.repeating.take().filter(|rest| {
            piece.strip_prefix(self.told.as_str()).is_some_and(|after| after.starts_with(rest.as_str()))
        });
        self.repeating = repeating.and_then(|_| piece.strip_prefix(self.told.as_str())).map(str::to_owned);
        self.going_on = match (self.going_on.take(), &self.repeating) {
            // They have repeated before, and these do too.
            (_, Some(_)) if repeats => None,
            (Some(rest), _) => Some(rest + piece),
            (None, Some(_)) => None,
            (None, None) => Some(piece.to_owned()),
        };
        let length = match (&self.going_on, &self.repeating) {
            (Some(one), Some(other)) => common_length(one, other),
            (Some(rest), None) | (None, Some(rest)) => rest.len(),
            (None, None) => 0,
        };
        let mut news = String::new();
        for rest in [&mut self.going_on, &mut self.repeating].into_iter().flatten() {
            let after = rest.split_off(length.min(rest.len()));
            news = std::mem::replace(rest, after);
        }
        self.told.push_str(&news);
        news
    }

    /// What has to be told when the whole text is known.
    pub(super) fn end(&self, whole: &str) -> Ending {
        let Some(rest) = whole.strip_prefix(self.told.as_str()) else {
            return Ending { rest: String::new(), is_other: true, repeats: None };
        };
        let (going_on, repeating) = (self.going_on.as_deref(), self.repeating.as_deref());
        let repeats = match (going_on == Some(rest), repeating == Some(rest)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        };
        Ending { rest: rest.to_owned(), is_other: false, repeats }
    }

    /// What is most likely to follow when the whole text never comes.
    pub(super) fn break_off(&self) -> &str {
        self.repeating.as_deref().or(self.going_on.as_deref()).unwrap_or_default()
    }
}

/// How many bytes two texts have in common at their beginning.
fn common_length(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&str], repeats: bool) -> (Vec<String>, Pieces) {
        let mut all = Pieces::default();
        (pieces.iter().map(|piece| all.add(piece, repeats)).collect(), all)
    }

    #[test]
    fn pieces_that_go_on_are_told_at_once() {
        let (news, pieces) = told(&["Hel", "lo, ", "world"], false);
        assert_eq!(news, ["Hel", "lo, ", "world"]);
        assert_eq!(pieces.end("Hello, world").rest, "");
    }

    #[test]
    fn pieces_that_may_repeat_wait() {
        let (news, pieces) = told(&["Hel", "Hello, ", "Hello, world"], false);
        assert_eq!(news, ["Hel", "", ""]);
        let ending = pieces.end("Hello, world");
        assert_eq!((ending.rest.as_str(), ending.repeats), ("lo, world", Some(true)));
        assert_eq!(pieces.break_off(), "lo, world");
    }

    #[test]
    fn pieces_that_repeated_before_are_told_at_once() {
        let (news, pieces) = told(&["Hel", "Hello, ", "Hello, world"], true);
        assert_eq!(news, ["Hel", "lo, ", "world"]);
        assert_eq!(pieces.end("Hello, world").rest, "");
        let (news, _) = told(&["Hel", "lo"], true);
        assert_eq!(news, ["Hel", "lo"]);
    }

    #[test]
    fn pieces_that_only_look_like_repetition_are_told_in_the_end() {
        let (news, pieces) = told(&["ha", "ha", "ha!"], false);
        assert_eq!(news.concat(), "hahaha!".get(..news.concat().len()).unwrap_or_default());
        let ending = pieces.end("hahaha!");
        assert_eq!(format!("{}{}", news.concat(), ending.rest), "hahaha!");
        assert!(!ending.is_other);
    }

    #[test]
    fn another_text_is_known_as_such() {
        let (_, pieces) = told(&["Hel", "Here I am."], false);
        assert!(pieces.end("Here I am.").is_other);
    }
}
