//! The media types that a model accepts.

/// Patterns of accepted media types: `image/*`, `audio/wav`, `application/pdf`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputTypes {
    patterns: Vec<String>,
}

/// Means that the model accepts its own earlier thinking. All other entries are media types.
const THINKING: &str = "application/x-thinking";

impl InputTypes {
    pub(crate) fn new(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { patterns: patterns.into_iter().map(Into::into).collect() }
    }

    /// Whether media of a type may be sent.
    pub(crate) fn allows(&self, media_type: &str) -> bool {
        let plain = |pattern: &&String| *pattern != "text/plain" && *pattern != THINKING;
        let media_type = canonical(media_type);
        self.patterns.iter().filter(plain).any(|pattern| matches(canonical(pattern), media_type))
    }

    /// Whether the model accepts its own earlier thinking.
    pub(crate) fn allows_thinking(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern == THINKING)
    }
}

/// Returns the canonical name of a media type, so that `audio/mp3` in the patterns matches `audio/mpeg` too.
fn canonical(media_type: &str) -> &str {
    match media_type {
        "audio/mp3" => "audio/mpeg",
        "audio/x-wav" | "audio/wave" | "audio/vnd.wave" => "audio/wav",
        "audio/x-m4a" => "audio/m4a",
        "image/jpg" => "image/jpeg",
        other => other,
    }
}

/// Whether a text matches a pattern with `*` for any characters and `?` for one.
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

/// Strips a prefix in which `?` matches any character.
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
        // An empty pattern matches at the end too.
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
    fn aliases_match_canonical_types() {
        let types = InputTypes::new(["audio/mp3", "image/jpeg"]);
        assert!(types.allows("audio/mpeg"));
        assert!(types.allows("image/jpg"));
        assert!(!types.allows("audio/wav"));
    }
}
