//! What the declared types look like, as data: the schema, the protocol page and other languages' types come from it.

/// What may stand in a field.
///
/// ```
/// use recount_message::{Shape, schema};
///
/// let events = schema::events();
/// let end = events.iter().find(|event| event.name == "ModelCallEndEvent").unwrap();
/// let reason = end.fields.iter().find(|field| field.name == "finished_reason").unwrap();
/// assert_eq!(reason.shape, Shape::Words(&["completed", "interrupted"]));
/// ```
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
///
/// ```
/// use recount_message::{Field, schema};
///
/// let describe = |field: &Field| format!("{}{}: {}", field.name, if field.required { "" } else { "?" }, field.doc);
/// let usage = &schema::messages()[1];
/// assert_eq!(describe(&usage.fields[0]), "input_tokens: Tokens read.");
/// assert_eq!(describe(&usage.fields[2]), "cache_input_tokens?: Tokens read from the prompt cache.");
/// ```
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
///
/// ```
/// use recount_message::{Event, schema};
///
/// // Every event's example is an event of its type.
/// for record in schema::events() {
///     assert_eq!(Some(Event::from_json(record.example.unwrap())?.type_name()), record.tag);
/// }
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
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
