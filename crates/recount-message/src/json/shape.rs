//! Descriptions of the declared types, from which the schema, the protocol page and the TypeScript types are generated.

/// The type of a field.
///
/// ```
/// use recount_message::{Shape, schema};
///
/// let events = schema::events();
/// let end = events.iter().find(|event| event.name == "ModelCallEndEvent").unwrap();
/// let reason = end.fields.iter().find(|field| field.name == "finished_reason").unwrap();
/// assert_eq!(reason.shape, Shape::Enum(&["completed", "interrupted"]));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// A string.
    String,
    /// `true` or `false`.
    Boolean,
    /// A non-negative integer.
    Integer,
    /// Any JSON object.
    Object,
    /// One of several strings.
    Enum(&'static [&'static str]),
    /// Another record, by its name.
    Record(&'static str),
    /// One of several types.
    OneOf(Vec<Shape>),
    /// An array.
    Array(Box<Shape>),
    /// A type or `null`.
    Nullable(Box<Shape>),
}

/// A field of a [`Record`].
///
/// ```
/// use recount_message::{Field, schema};
///
/// let describe = |field: &Field| format!("{}{}: {}", field.name, if field.required { "" } else { "?" }, field.doc);
/// let usage = &schema::messages()[1];
/// assert_eq!(describe(&usage.fields[0]), "input_tokens: Number of input tokens.");
/// assert_eq!(describe(&usage.fields[2]), "cache_input_tokens?: Number of input tokens read from the prompt cache.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Type of the value.
    pub shape: Shape,
    /// Whether parsing fails without the field.
    pub required: bool,
    /// Description of the field.
    pub doc: &'static str,
}

/// A declared type: a block, an event, or a part of one.
///
/// ```
/// use recount_message::{Event, schema};
///
/// // The example of every record is an event of its type.
/// for record in schema::events() {
///     assert_eq!(Some(Event::from_json(record.example.unwrap())?.type_name()), record.tag);
/// }
/// # Ok::<(), recount_message::DecodeError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// The Rust name.
    pub name: &'static str,
    /// The value of `type` in JSON, if the record has one.
    pub tag: Option<&'static str>,
    /// Description of the record.
    pub doc: &'static str,
    /// An example in JSON, if the declaration has one.
    pub example: Option<&'static str>,
    /// The fields in encoding order, without `type`.
    pub fields: Vec<Field>,
}
