//! What the declared types look like, as data: the schema, the protocol page and other languages' types come from it.

/// What may stand in a field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A string.
    Text,
    /// `true` or `false`.
    Boolean,
    /// A whole number that is not negative.
    Count,
    /// Any JSON object.
    Object,
    /// One of some words.
    Words(&'static [&'static str]),
    /// A record that is declared by itself, by its name.
    Record(&'static str),
    /// One of several shapes.
    OneOf(Vec<Shape>),
    /// A list of something.
    List(Box<Shape>),
    /// Something or `null`.
    Nullable(Box<Shape>),
}

/// A field of a [`Record`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What may stand there.
    pub shape: Shape,
    /// Whether a text without the field cannot be read.
    pub required: bool,
    /// What the field means.
    pub doc: &'static str,
}

/// A declared type: a block, an event, or a part of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The Rust name.
    pub name: &'static str,
    /// What `type` says in JSON, where the record has a `type`.
    pub tag: Option<&'static str>,
    /// What the record is.
    pub doc: &'static str,
    /// One in JSON, where the declaration gives one.
    pub example: Option<&'static str>,
    /// The fields in the order in which they are written, `type` aside.
    pub fields: Vec<Field>,
}
