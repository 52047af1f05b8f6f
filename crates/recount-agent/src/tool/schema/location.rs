//! The location of a part within a JSON value.

use std::fmt;

/// The path from the root of a value to one of its parts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Location(Vec<Segment>);

/// One step of a [`Location`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Key(String),
    Index(usize),
}

impl Location {
    pub(crate) fn segments(&self) -> &[Segment] {
        &self.0
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn child(&self, segment: Segment) -> Self {
        Self(self.0.iter().cloned().chain([segment]).collect())
    }

    pub(super) fn key(&self, key: &str) -> Self {
        self.child(Segment::Key(key.to_owned()))
    }
}

impl FromIterator<Segment> for Location {
    fn from_iter<T: IntoIterator<Item = Segment>>(segments: T) -> Self {
        Self(segments.into_iter().collect())
    }
}

/// Writes `$.places[2]`.
impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut path = "$".to_owned();
        for segment in &self.0 {
            match segment {
                Segment::Index(index) => path.push_str(&format!("[{index}]")),
                Segment::Key(key) => push_key(&mut path, key),
            }
        }
        f.write_str(&path)
    }
}

/// Appends a key to a path, quoted unless it is a plain name.
pub(crate) fn push_key(path: &mut String, key: &str) {
    let is_plain = key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if is_plain {
        path.push('.');
        path.push_str(key);
    } else {
        path.push_str(&format!("[{key:?}]"));
    }
}
