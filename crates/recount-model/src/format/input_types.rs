//! Which media a model takes.

/// Which media a model takes, as patterns: `image/*`, `audio/wav`, `application/pdf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputTypes {
    patterns: Vec<String>,
}

/// Says that a model reads its own thinking again. The other entries are about media.
const THINKING: &str = "application/x-thinking";

impl InputTypes {
    pub(crate) fn new(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { patterns: patterns.into_iter().map(Into::into).collect() }
    }

    /// Whether media of a type may be sent.
    pub(crate) fn allow(&self, media_type: &str) -> bool {
        let plain = |pattern: &&String| *pattern != "text/plain" && *pattern != THINKING;
        let media_type = canonical(media_type);
        self.patterns.iter().filter(plain).any(|pattern| matches(canonical(pattern), media_type))
    }

    /// Whether the model reads its own thinking again.
    pub(crate) fn allow_thinking(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern == THINKING)
    }
}

/// One name for types that have several, so that a model that takes `audio/mp3` takes `audio/mpeg` too.
fn canonical(media_type: &str) -> &str {
    match media_type {
        "audio/mp3" => "audio/mpeg",
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav",
        "audio/x-m4a" => "audio/m4a",
        "image/jpg" => "image/jpeg",
        other => other,
    }
}

/// Whether a pattern with `*` for anything and `?` for one character fits a text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut rest = text;
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(after) = strip_pattern(rest, first) else { return false };
    rest = after;
    let mut last = None;
    for part in parts {
        if let Some(part) = last.replace(part) {
            let Some(after) = find_pattern(rest, part) else { return false };
            rest = after;
        }
    }
    match last {
        None => rest.is_empty(),
        Some(part) => {
            rest.len() >= part.len() && {
                let at = rest.len() - part.len();
                rest.get(at..).is_some_and(|end| strip_pattern(end, part).is_some())
            }
        }
    }
}

/// What follows a beginning, where `?` is any character.
fn strip_pattern<'a>(text: &'a str, pattern: &str) -> Option<&'a str> {
    let mut characters = text.chars();
    for wanted in pattern.chars() {
        let found = characters.next()?;
        if wanted != '?' && wanted != found {
            return None;
        }
    }
    Some(characters.as_str())
}

fn find_pattern<'a>(text: &'a str, pattern: &str) -> Option<&'a str> {
    text.char_indices().find_map(|(at, _)| strip_pattern(text.get(at..)?, pattern)).or_else(|| {
        // An empty pattern also fits at the very end.
        pattern.is_empty().then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_globs() {
        for (pattern, text, expected) in [
            ("image/*", "image/png", true),
            ("image/*", "images/png", false),
            ("*", "video/mp4", true),
            ("*/png", "image/png", true),
            ("audio/wav", "audio/wav", true),
            ("audio/wav", "audio/wave2", false),
            ("i*e/p?g", "image/png", true),
            ("i*e/p?g", "image/jpeg", false),
            ("a*a", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    #[test]
    fn a_type_under_another_name_is_the_same_type() {
        let types = InputTypes::new(["audio/mp3", "image/jpeg"]);
        assert!(types.allow("audio/mpeg"));
        assert!(types.allow("image/jpg"));
        assert!(!types.allow("audio/wav"));
    }
}
