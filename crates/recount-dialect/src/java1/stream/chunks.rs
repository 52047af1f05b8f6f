//! Text in chunks that are either incremental or cumulative.

/// A text that arrives in chunks. Incremental chunks continue the text, and cumulative chunks repeat it from the start.
/// The common prefix of both interpretations is emitted immediately. The rest is held until one of them is ruled out or
/// the complete text arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkedText {
    /// The emitted text.
    pub(super) emitted: String,
    /// The held text if the chunks are incremental. `None` if that is ruled out.
    pub(super) incremental: Option<String>,
    /// The held text if the chunks are cumulative. `None` if that is ruled out.
    pub(super) cumulative: Option<String>,
}

/// The effect of the complete text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ending {
    /// The text that has not been emitted yet.
    pub(super) rest: String,
    /// Whether the complete text does not start with the emitted text.
    pub(super) is_replaced: bool,
    /// Whether the chunks were cumulative. `None` if undecided.
    pub(super) is_cumulative: Option<bool>,
}

impl Default for ChunkedText {
    fn default() -> Self {
        Self { emitted: String::new(), incremental: Some(String::new()), cumulative: Some(String::new()) }
    }
}

impl ChunkedText {
    /// Adds a chunk and returns the text to emit. `is_cumulative` is the interpretation of earlier texts.
    pub(super) fn add(&mut self, chunk: &str, is_cumulative: bool) -> String {
        let cumulative = self.cumulative.take().filter(|rest| {
            chunk.strip_prefix(self.emitted.as_str()).is_some_and(|after| after.starts_with(rest.as_str()))
        });
        self.cumulative = cumulative.and_then(|_| chunk.strip_prefix(self.emitted.as_str())).map(str::to_owned);
        self.incremental = match (self.incremental.take(), &self.cumulative) {
            // Earlier texts were cumulative, and this one is consistent with that.
            (_, Some(_)) if is_cumulative => None,
            (Some(rest), _) => Some(rest + chunk),
            (None, Some(_)) => None,
            (None, None) => Some(chunk.to_owned()),
        };
        let length = match (&self.incremental, &self.cumulative) {
            (Some(one), Some(other)) => common_length(one, other),
            (Some(rest), None) | (None, Some(rest)) => rest.len(),
            (None, None) => 0,
        };
        let mut delta = String::new();
        for rest in [&mut self.incremental, &mut self.cumulative].into_iter().flatten() {
            let after = rest.split_off(length.min(rest.len()));
            delta = std::mem::replace(rest, after);
        }
        self.emitted.push_str(&delta);
        delta
    }

    /// Compares the chunks with the complete text.
    pub(super) fn end(&self, whole: &str) -> Ending {
        let Some(rest) = whole.strip_prefix(self.emitted.as_str()) else {
            return Ending { rest: String::new(), is_replaced: true, is_cumulative: None };
        };
        let (incremental, cumulative) = (self.incremental.as_deref(), self.cumulative.as_deref());
        let is_cumulative = match (incremental == Some(rest), cumulative == Some(rest)) {
            (true, false) => Some(false),
            (false, true) => Some(true),
            _ => None,
        };
        Ending { rest: rest.to_owned(), is_replaced: false, is_cumulative }
    }

    /// Returns the most likely remaining text if the complete text never arrives.
    pub(super) fn remainder(&self) -> &str {
        self.cumulative.as_deref().or(self.incremental.as_deref()).unwrap_or_default()
    }
}

/// Returns the length of the common prefix in bytes.
fn common_length(one: &str, other: &str) -> usize {
    let same = one.chars().zip(other.chars()).take_while(|(one, other)| one == other);
    same.map(|(character, _)| character.len_utf8()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(chunks: &[&str], is_cumulative: bool) -> (Vec<String>, ChunkedText) {
        let mut all = ChunkedText::default();
        (chunks.iter().map(|chunk| all.add(chunk, is_cumulative)).collect(), all)
    }

    #[test]
    fn incremental_chunks_are_emitted_immediately() {
        let (delta, chunks) = emitted(&["Hel", "lo, ", "world"], false);
        assert_eq!(delta, ["Hel", "lo, ", "world"]);
        assert_eq!(chunks.end("Hello, world").rest, "");
    }

    #[test]
    fn ambiguous_chunks_are_held() {
        let (delta, chunks) = emitted(&["Hel", "Hello, ", "Hello, world"], false);
        assert_eq!(delta, ["Hel", "", ""]);
        let ending = chunks.end("Hello, world");
        assert_eq!((ending.rest.as_str(), ending.is_cumulative), ("lo, world", Some(true)));
        assert_eq!(chunks.remainder(), "lo, world");
    }

    #[test]
    fn cumulative_chunks_are_emitted_immediately_if_expected() {
        let (delta, chunks) = emitted(&["Hel", "Hello, ", "Hello, world"], true);
        assert_eq!(delta, ["Hel", "lo, ", "world"]);
        assert_eq!(chunks.end("Hello, world").rest, "");
        let (delta, _) = emitted(&["Hel", "lo"], true);
        assert_eq!(delta, ["Hel", "lo"]);
    }

    #[test]
    fn chunks_that_look_cumulative_are_emitted_at_the_end() {
        let (delta, chunks) = emitted(&["ha", "ha", "ha!"], false);
        assert_eq!(delta.concat(), "hahaha!".get(..delta.concat().len()).unwrap_or_default());
        let ending = chunks.end("hahaha!");
        assert_eq!(format!("{}{}", delta.concat(), ending.rest), "hahaha!");
        assert!(!ending.is_replaced);
    }

    #[test]
    fn detects_replaced_text() {
        let (_, chunks) = emitted(&["Hel", "Here I am."], false);
        assert!(chunks.end("Here I am.").is_replaced);
    }
}
