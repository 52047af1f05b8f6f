//! The validator of the keywords that the schemas of agents use.

use std::sync::Arc;

use serde_json::{Map, Number, Value};

use super::error::{ErrorKind, ValidationError};
use super::location::{Location, Segment};
use super::number::{compare, is_equal, is_multiple};
use super::types::Types;

/// The index of a node in its schema.
pub(super) type NodeId = usize;

/// The maximum depth of schemas within schemas. A value has at most 128 levels.
const MAX_DEPTH: usize = 256;

/// The maximum number of schemas that are applied to a value, and to each of its parts on average. Nested alternatives
/// multiply.
const MAX_STEPS: usize = 10_000;
const MAX_STEPS_PER_PART: usize = 500;

/// The maximum number of options that the message about an `enum` lists.
const MAX_OPTIONS: usize = 3;

/// A compiled schema. The first node is the root.
#[derive(Debug)]
pub(super) struct Subset {
    nodes: Vec<Node>,
}

#[derive(Debug)]
pub(super) enum Node {
    /// `true`
    Any,
    /// `false`
    Never,
    /// An object, with its keywords in the order of validation.
    Keywords(Vec<Keyword>),
}

/// A keyword that is validated.
#[derive(Debug)]
pub(super) enum Keyword {
    Type(Types),
    Const(Arc<Value>),
    Enum(Arc<[Value]>),
    Minimum(Number),
    Maximum(Number),
    ExclusiveMinimum(Number),
    ExclusiveMaximum(Number),
    MultipleOf(u64),
    MinLength(u64),
    MaxLength(u64),
    MinItems(u64),
    MaxItems(u64),
    MinProperties(u64),
    MaxProperties(u64),
    Required(Vec<String>),
    DependentRequired(Vec<(String, Vec<String>)>),
    UniqueItems,
    Properties(Vec<(String, NodeId)>),
    AdditionalProperties { known: Vec<String>, schema: NodeId },
    PropertyNames(NodeId),
    Items { prefix: usize, schema: NodeId },
    PrefixItems(Vec<NodeId>),
    AllOf(Vec<NodeId>),
    AnyOf(Vec<NodeId>),
    OneOf(Vec<NodeId>),
    Not { schema: NodeId, text: String },
    If { condition: NodeId, then: Option<NodeId>, otherwise: Option<NodeId> },
    Ref(NodeId),
}

impl Keyword {
    /// The position in the order of validation, which is the order of errors.
    pub(super) fn priority(&self) -> u8 {
        match self {
            Self::Type(_) => 0,
            Self::Const(_) => 1,
            Self::Enum(_) => 2,
            Self::Minimum(_) => 3,
            Self::Maximum(_) => 4,
            Self::ExclusiveMinimum(_) => 5,
            Self::ExclusiveMaximum(_) => 6,
            Self::MultipleOf(_) => 7,
            Self::MinLength(_) => 8,
            Self::MaxLength(_) => 9,
            Self::MinItems(_) => 10,
            Self::MaxItems(_) => 11,
            Self::MinProperties(_) => 12,
            Self::MaxProperties(_) => 13,
            Self::Required(_) => 14,
            Self::DependentRequired(_) => 15,
            Self::UniqueItems => 16,
            Self::Properties(_) => 17,
            Self::AdditionalProperties { .. } => 18,
            Self::PropertyNames(_) => 19,
            Self::Items { .. } => 20,
            Self::PrefixItems(_) => 21,
            Self::AllOf(_) => 22,
            Self::AnyOf(_) => 23,
            Self::OneOf(_) => 24,
            Self::Not { .. } => 25,
            Self::If { .. } => 26,
            Self::Ref(_) => 27,
        }
    }
}

impl Subset {
    pub(super) fn new(nodes: Vec<Node>) -> Self {
        Self { nodes }
    }

    /// Returns the errors of a value, none if it is valid.
    pub(super) fn errors(&self, value: &Value) -> Vec<ValidationError> {
        let remaining_steps = MAX_STEPS + MAX_STEPS_PER_PART * parts(value);
        let mut run = Run { nodes: &self.nodes, remaining_steps, depth: 0, references: Vec::new(), exceeded: None };
        let errors = run.errors(0, value, Path::Root);
        match run.exceeded {
            Some(message) => vec![ValidationError::new(Location::default(), ErrorKind::Other, message)],
            None => errors,
        }
    }
}

/// Counts the parts of a value.
fn parts(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(parts).sum::<usize>(),
        Value::Object(entries) => 1 + entries.values().map(parts).sum::<usize>(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 1,
    }
}

/// The path of the value that is validated, on the stack.
#[derive(Debug, Clone, Copy)]
enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
}

impl Path<'_> {
    fn location(&self) -> Location {
        let mut segments = Vec::new();
        let mut path = self;
        loop {
            path = match path {
                Path::Root => break,
                Path::Key(parent, key) => {
                    segments.push(Segment::Key((*key).to_owned()));
                    parent
                }
                Path::Index(parent, index) => {
                    segments.push(Segment::Index(*index));
                    parent
                }
            };
        }
        segments.into_iter().rev().collect()
    }
}

/// One validation.
struct Run<'a> {
    nodes: &'a [Node],
    remaining_steps: usize,
    depth: usize,
    /// The references that are being validated, with the address of the value, to stop at circular ones.
    references: Vec<(NodeId, *const Value)>,
    /// The limit that was exceeded. The result is incomplete then.
    exceeded: Option<&'static str>,
}

impl<'a> Run<'a> {
    fn errors(&mut self, id: NodeId, value: &Value, path: Path<'_>) -> Vec<ValidationError> {
        let mut errors = Vec::new();
        self.node(id, value, path, &mut errors);
        errors
    }

    fn is_valid(&mut self, id: NodeId, value: &Value, path: Path<'_>) -> bool {
        self.errors(id, value, path).is_empty()
    }

    fn node(&mut self, id: NodeId, value: &Value, path: Path<'_>, errors: &mut Vec<ValidationError>) {
        if self.remaining_steps == 0 {
            self.exceeded = Some("the schema has too many alternatives to validate this value");
        } else if self.depth == MAX_DEPTH {
            self.exceeded = Some("the schema nests too deeply to validate this value");
        }
        if self.exceeded.is_some() {
            return;
        }
        self.remaining_steps -= 1;
        let nodes: &'a [Node] = self.nodes;
        self.depth += 1;
        match nodes.get(id) {
            Some(Node::Any) | None => {}
            Some(Node::Never) => {
                let message = format_args!("False schema does not allow {value}");
                errors.push(ValidationError::new(path.location(), ErrorKind::Other, message));
            }
            Some(Node::Keywords(keywords)) => {
                for keyword in keywords {
                    self.keyword(keyword, value, path, errors);
                }
            }
        }
        self.depth -= 1;
    }

    fn keyword(&mut self, keyword: &Keyword, value: &Value, path: Path<'_>, errors: &mut Vec<ValidationError>) {
        match (keyword, value) {
            (Keyword::AllOf(schemas), _) => schemas.iter().for_each(|id| self.node(*id, value, path, errors)),
            (Keyword::AnyOf(schemas), _) => self.any_of(schemas, value, path, errors),
            (Keyword::OneOf(schemas), _) => self.one_of(schemas, value, path, errors),
            (Keyword::Not { schema, text }, _) => {
                if self.is_valid(*schema, value, path) {
                    let message = format_args!("{text} is not allowed for {value}");
                    errors.push(ValidationError::new(path.location(), ErrorKind::Other, message));
                }
            }
            (Keyword::If { condition, then, otherwise }, _) => {
                let branch = if self.is_valid(*condition, value, path) { then } else { otherwise };
                if let Some(id) = branch {
                    self.node(*id, value, path, errors);
                }
            }
            (Keyword::Ref(id), _) => {
                let reference = (*id, std::ptr::from_ref(value));
                if !self.references.contains(&reference) {
                    self.references.push(reference);
                    self.node(*id, value, path, errors);
                    self.references.pop();
                }
            }
            (Keyword::Properties(properties), Value::Object(entries)) => {
                for (key, id) in properties {
                    if let Some(value) = entries.get(key) {
                        self.node(*id, value, Path::Key(&path, key), errors);
                    }
                }
            }
            (Keyword::AdditionalProperties { known, schema }, Value::Object(entries)) => {
                self.additional(known, *schema, entries, path, errors);
            }
            (Keyword::PropertyNames(id), Value::Object(entries)) => {
                for key in entries.keys() {
                    let found = self.errors(*id, &Value::String(key.clone()), path);
                    errors.extend(found.into_iter().map(|error| ValidationError { kind: ErrorKind::Other, ..error }));
                }
            }
            (Keyword::Items { prefix, schema }, Value::Array(items)) => {
                for (index, item) in items.iter().enumerate().skip(*prefix) {
                    self.node(*schema, item, Path::Index(&path, index), errors);
                }
            }
            (Keyword::PrefixItems(schemas), Value::Array(items)) => {
                for (index, (item, id)) in items.iter().zip(schemas).enumerate() {
                    self.node(*id, item, Path::Index(&path, index), errors);
                }
            }
            _ => assertion(keyword, value, path, errors),
        }
    }

    fn any_of(&mut self, schemas: &[NodeId], value: &Value, path: Path<'_>, errors: &mut Vec<ValidationError>) {
        let mut alternatives = Vec::new();
        for id in schemas {
            let found = self.errors(*id, value, path);
            if found.is_empty() {
                return;
            }
            alternatives.push(found);
        }
        let message = format_args!("{value} is not valid under any of the schemas listed in the 'anyOf' keyword");
        errors.push(ValidationError::new(path.location(), ErrorKind::NoAlternative(alternatives), message));
    }

    fn one_of(&mut self, schemas: &[NodeId], value: &Value, path: Path<'_>, errors: &mut Vec<ValidationError>) {
        let mut alternatives: Vec<_> = schemas.iter().map(|id| self.errors(*id, value, path)).collect();
        let (kind, expected) = match alternatives.iter().filter(|errors| errors.is_empty()).count() {
            0 => (ErrorKind::NoAlternative(std::mem::take(&mut alternatives)), "any"),
            1 => return,
            _ => (ErrorKind::Other, "more than one"),
        };
        let not = if expected == "any" { "not " } else { "" };
        let message =
            format_args!("{value} is {not}valid under {expected} of the schemas listed in the 'oneOf' keyword");
        errors.push(ValidationError::new(path.location(), kind, message));
    }

    fn additional(
        &mut self,
        known: &[String],
        schema: NodeId,
        entries: &Map<String, Value>,
        path: Path<'_>,
        errors: &mut Vec<ValidationError>,
    ) {
        let additional = entries.iter().filter(|(key, _)| !known.contains(key));
        if !matches!(self.nodes.get(schema), Some(Node::Never)) {
            additional.for_each(|(key, value)| self.node(schema, value, Path::Key(&path, key), errors));
            return;
        }
        let quoted: Vec<String> = additional.map(|(key, _)| format!("'{key}'")).collect();
        if !quoted.is_empty() {
            let were = if quoted.len() == 1 { "was" } else { "were" };
            let list = quoted.join(", ");
            let message = format_args!("Additional properties are not allowed ({list} {were} unexpected)");
            errors.push(ValidationError::new(path.location(), ErrorKind::Other, message));
        }
    }
}

/// Validates a keyword that has no subschemas.
fn assertion(keyword: &Keyword, value: &Value, path: Path<'_>, errors: &mut Vec<ValidationError>) {
    let mut fail = |kind, message: std::fmt::Arguments<'_>| {
        errors.push(ValidationError::new(path.location(), kind, message));
    };
    match (keyword, value) {
        (Keyword::Type(types), _) if !types.accepts(value) => {
            fail(ErrorKind::Type(*types), format_args!("{value} is not of {types}"));
        }
        (Keyword::Const(expected), _) if !is_equal(value, expected) => {
            fail(ErrorKind::Const(Arc::clone(expected)), format_args!("{expected} was expected"));
        }
        (Keyword::Enum(options), _) if !options.iter().any(|option| is_equal(value, option)) => {
            fail(ErrorKind::Enum(Arc::clone(options)), format_args!("{value} is not one of {}", listed(options)));
        }
        (Keyword::Minimum(limit), Value::Number(number))
            if compare(number, limit).is_some_and(std::cmp::Ordering::is_lt) =>
        {
            fail(ErrorKind::Other, format_args!("{number} is less than the minimum of {limit}"));
        }
        (Keyword::Maximum(limit), Value::Number(number))
            if compare(number, limit).is_some_and(std::cmp::Ordering::is_gt) =>
        {
            fail(ErrorKind::Other, format_args!("{number} is greater than the maximum of {limit}"));
        }
        (Keyword::ExclusiveMinimum(limit), Value::Number(number))
            if compare(number, limit).is_some_and(std::cmp::Ordering::is_le) =>
        {
            fail(ErrorKind::Other, format_args!("{number} is less than or equal to the minimum of {limit}"));
        }
        (Keyword::ExclusiveMaximum(limit), Value::Number(number))
            if compare(number, limit).is_some_and(std::cmp::Ordering::is_ge) =>
        {
            fail(ErrorKind::Other, format_args!("{number} is greater than or equal to the maximum of {limit}"));
        }
        (Keyword::MultipleOf(of), Value::Number(number)) if !is_multiple(number, *of) => {
            fail(ErrorKind::Other, format_args!("{number} is not a multiple of {of}"));
        }
        (Keyword::MinLength(limit), Value::String(text)) if (text.chars().count() as u64) < *limit => {
            fail(ErrorKind::Other, format_args!("{value} is shorter than {limit} character{}", plural(*limit)));
        }
        (Keyword::MaxLength(limit), Value::String(text)) if text.chars().count() as u64 > *limit => {
            fail(ErrorKind::Other, format_args!("{value} is longer than {limit} character{}", plural(*limit)));
        }
        (Keyword::MinItems(limit), Value::Array(items)) if (items.len() as u64) < *limit => {
            fail(ErrorKind::Other, format_args!("{value} has less than {limit} item{}", plural(*limit)));
        }
        (Keyword::MaxItems(limit), Value::Array(items)) if items.len() as u64 > *limit => {
            fail(ErrorKind::Other, format_args!("{value} has more than {limit} item{}", plural(*limit)));
        }
        (Keyword::MinProperties(limit), Value::Object(entries)) if (entries.len() as u64) < *limit => {
            let ending = if *limit == 1 { "y" } else { "ies" };
            fail(ErrorKind::Other, format_args!("{value} has less than {limit} propert{ending}"));
        }
        (Keyword::MaxProperties(limit), Value::Object(entries)) if entries.len() as u64 > *limit => {
            let ending = if *limit == 1 { "y" } else { "ies" };
            fail(ErrorKind::Other, format_args!("{value} has more than {limit} propert{ending}"));
        }
        (Keyword::Required(names), Value::Object(entries)) => {
            for name in names.iter().filter(|name| !entries.contains_key(*name)) {
                fail(ErrorKind::Other, format_args!("{} is a required property", Value::from(name.as_str())));
            }
        }
        (Keyword::DependentRequired(dependents), Value::Object(entries)) => {
            let required = dependents.iter().filter(|(key, _)| entries.contains_key(key)).flat_map(|(_, names)| names);
            for name in required.filter(|name| !entries.contains_key(*name)) {
                fail(ErrorKind::Other, format_args!("{} is a required property", Value::from(name.as_str())));
            }
        }
        (Keyword::UniqueItems, Value::Array(items)) => {
            let is_repeated = |(index, item)| items.iter().take(index).any(|earlier| is_equal(earlier, item));
            if items.iter().enumerate().any(is_repeated) {
                fail(ErrorKind::Other, format_args!("{value} has non-unique elements"));
            }
        }
        _ => {}
    }
}

fn plural(count: u64) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// Lists the first options of an `enum`.
fn listed(options: &[Value]) -> String {
    let shown = if options.len() > MAX_OPTIONS { MAX_OPTIONS - 1 } else { options.len() };
    let mut texts: Vec<String> = options.iter().take(shown).map(Value::to_string).collect();
    let last = match options.len() - shown {
        0 => texts.pop(),
        more => Some(format!("{more} other candidates")),
    };
    match (texts.is_empty(), last) {
        (true, last) => last.unwrap_or_default(),
        (false, last) => format!("{} or {}", texts.join(", "), last.unwrap_or_default()),
    }
}
