//! The macro that declares events: structs, parser, encoder and schema from one list.

use std::borrow::Cow;

use crate::block::{Payload, ToolCallBlock, ToolResultBlock};
use crate::{ConfirmResult, ErrorInfo, FinishedReason, ModelFinishedReason, Object, ToolResultState};

/// Converts a field to one that borrows nothing.
pub(crate) trait IntoOwned {
    type Owned;
    fn into_owned(self) -> Self::Owned;
}

impl IntoOwned for Cow<'_, str> {
    type Owned = Cow<'static, str>;

    fn into_owned(self) -> Cow<'static, str> {
        Cow::Owned(Cow::into_owned(self))
    }
}

impl<T: IntoOwned> IntoOwned for Option<T> {
    type Owned = Option<T::Owned>;

    fn into_owned(self) -> Self::Owned {
        self.map(T::into_owned)
    }
}

macro_rules! owned_already {
    ($($type:ty),+) => {$(
        impl IntoOwned for $type {
            type Owned = Self;

            fn into_owned(self) -> Self {
                self
            }
        }
    )+};
}
owned_already!(
    u64,
    Object,
    Payload,
    ErrorInfo,
    FinishedReason,
    ModelFinishedReason,
    ToolResultState,
    Vec<ToolCallBlock>,
    Vec<ToolResultBlock>,
    Vec<ConfirmResult>
);

/// Declares all events.
///
/// ```text
/// events! {
///     /// Description of the event.
///     Name(NameEvent) = "TYPE" {
///         /// A required field.
///         field: Type,
///         /// An optional field.
///         other: Type = default expression,
///         /// An optional field that is not written if it is `None`.
///         third: Option<Type> = None => omitted,
///     } example "the fields of one in JSON"
/// }
/// ```
macro_rules! events {
    ($(
        $(#[doc = $doc:literal])+
        $name:ident($struct:ident) = $type_name:literal {
            $( $(#[doc = $field_doc:literal])+ $field:ident: $type:ty $(= $default:expr $(=> $omitted:ident)?)?, )*
        } example $example:literal
    )+) => {
        $(
            $(#[doc = $doc])+
            ///
            /// ```
            /// use recount_message::{Event, EventKind};
            ///
            #[doc = concat!("let text = r##\"", example!($type_name, $example), "\"##;")]
            /// let event = Event::from_json(text)?;
            #[doc = concat!("assert!(matches!(event.kind, EventKind::", stringify!($name), "(_)));")]
            /// assert_eq!(event.to_json(), text);
            /// # Ok::<(), recount_message::DecodeError>(())
            /// ```
            #[derive(Debug, Clone, PartialEq, Eq)]
            #[non_exhaustive]
            pub struct $struct<'a> {
                $( $(#[doc = $field_doc])+ pub $field: $type, )*
            }

            impl<'a> $struct<'a> {
                fn from_fields(fields: &mut Fields<'a>, context: DecodeContext<'_>) -> Result<Self, DecodeError> {
                    Ok(Self {
                        $( $field: read_field!(fields, context, $field $(, $default)?), )*
                    })
                }

                /// Parses the rest of an event and constructs the event in place: moving it would cost a good part of
                /// the time that parsing takes.
                fn from_canonical(head: Head<'a>, scanner: &mut Scanner<'a>) -> Option<Event<'a>> {
                    let context = head.context($type_name);
                    $( let $field: $type = next_field!(scanner, context, $field $(, $default)?); )*
                    if !scanner.skip_end() {
                        return None;
                    }
                    let Head { id, created_at, metadata } = head;
                    let kind = EventKind::$name(Self { $($field,)* });
                    Some(Event { id, created_at, metadata, kind, extra: Object::new() })
                }

                fn write(&self, out: &mut String) {
                    $( write_field!(out, self.$field, $field $($(, $omitted)?)?); )*
                }

                fn into_owned(self) -> $struct<'static> {
                    $struct { $( $field: IntoOwned::into_owned(self.$field), )* }
                }
            }

            impl<'a> From<$struct<'a>> for EventKind<'a> {
                fn from(kind: $struct<'a>) -> Self {
                    Self::$name(kind)
                }
            }
        )+

        /// The type of an event, with its own fields.
        ///
        /// ```
        /// use recount_message::{Event, EventKind};
        ///
        /// let line = r#"{"type":"THINKING_BLOCK_DELTA","reply_id":"r1","block_id":"b1","delta":"Hm."}"#;
        /// let shown = match Event::from_json(line)?.kind {
        ///     EventKind::TextBlockDelta(text) => text.delta.into_owned(),
        ///     EventKind::ThinkingBlockDelta(thinking) => format!("({})", thinking.delta),
        ///     _ => String::new(),
        /// };
        /// assert_eq!(shown, "(Hm.)");
        /// # Ok::<(), recount_message::DecodeError>(())
        /// ```
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum EventKind<'a> {
            $( $(#[doc = $doc])+ $name($struct<'a>), )+
            /// An event of an undeclared type. Its fields are in `extra` of the event.
            Unknown(UnknownEvent<'a>),
        }

        string_enum! {
            /// The type of an event, without its fields.
            ///
            /// ```
            /// use recount_message::EventType;
            ///
            /// let deltas = EventType::ALL.iter().filter(|event_type| event_type.as_str().ends_with("_DELTA"));
            /// assert_eq!(deltas.count(), 6);
            /// ```
            pub enum EventType as "event type" {
                $( $(#[doc = $doc])+ $name = $type_name, )+
            }
        }

        impl<'a> EventKind<'a> {
            #[inline]
            pub(super) fn from_fields(
                type_name: Cow<'a, str>,
                fields: &mut Fields<'a>,
                context: DecodeContext<'_>,
            ) -> Result<Self, DecodeError> {
                match &*type_name {
                    $( $type_name => $struct::from_fields(fields, context).map(Self::$name), )+
                    _ => Ok(Self::Unknown(UnknownEvent { type_name })),
                }
            }

            /// Parses the rest of an event whose fields are in the order of their declaration.
            #[inline]
            pub(super) fn from_canonical(
                type_name: &str,
                head: Head<'a>,
                scanner: &mut Scanner<'a>,
            ) -> Option<Event<'a>> {
                match type_name {
                    $( $type_name => $struct::from_canonical(head, scanner), )+
                    _ => None,
                }
            }

            pub(super) fn write(&self, out: &mut String) {
                match self {
                    $( Self::$name(kind) => kind.write(out), )+
                    Self::Unknown(_) => {}
                }
            }

            /// Returns whether a key is a declared field of this type.
            pub(super) fn declares(&self, key: &str) -> bool {
                match self {
                    $( Self::$name(_) => [$(stringify!($field)),*].contains(&key), )+
                    Self::Unknown(_) => false,
                }
            }

            /// Converts the kind to one that borrows nothing.
            ///
            /// ```
            /// use recount_message::{Event, EventKind};
            ///
            /// let line = String::from(r#"{"type":"USER_INTERRUPT","reply_id":"r1"}"#);
            /// let kind: EventKind<'static> = Event::from_json(&line)?.kind.into_owned();
            /// drop(line);
            /// assert_eq!(kind.reply_id(), Some("r1"));
            /// # Ok::<(), recount_message::DecodeError>(())
            /// ```
            pub fn into_owned(self) -> EventKind<'static> {
                match self {
                    $( Self::$name(kind) => EventKind::$name(kind.into_owned()), )+
                    Self::Unknown(kind) => {
                        EventKind::Unknown(UnknownEvent { type_name: IntoOwned::into_owned(kind.type_name) })
                    }
                }
            }

            /// Returns the type of the event; `None` if this version does not declare it.
            ///
            /// ```
            /// use recount_message::{EventKind, EventType, UserInterruptEvent};
            ///
            /// let kind = EventKind::from(UserInterruptEvent::new("r1"));
            /// assert_eq!(kind.event_type(), Some(EventType::UserInterrupt));
            /// ```
            pub fn event_type(&self) -> Option<EventType> {
                match self {
                    $( Self::$name(_) => Some(EventType::$name), )+
                    Self::Unknown(_) => None,
                }
            }

            /// Returns the value of `type` in JSON.
            ///
            /// ```
            /// use recount_message::{EventKind, ExternalExecutionResultEvent};
            ///
            /// let kind = EventKind::from(ExternalExecutionResultEvent::new("r1", []));
            /// assert_eq!(kind.type_name(), "EXTERNAL_EXECUTION_RESULT");
            /// ```
            pub fn type_name(&self) -> &str {
                match self {
                    $( Self::$name(_) => $type_name, )+
                    Self::Unknown(kind) => &kind.type_name,
                }
            }
        }

        /// Returns the schema of all declared events.
        #[allow(clippy::extra_unused_lifetimes, reason = "the declared types name it")]
        pub(crate) fn records<'a>() -> Vec<Record> {
            vec![$(
                Record {
                    name: stringify!($struct),
                    tag: Some($type_name),
                    doc: concat!($($doc),+).trim_ascii(),
                    example: Some(example!($type_name, $example)),
                    fields: vec![$(
                        Field {
                            name: stringify!($field),
                            shape: <$type>::shape(),
                            required: !has_default!($($default)?),
                            doc: concat!($($field_doc),+).trim_ascii(),
                        },
                    )*],
                },
            )+]
        }
    };
}

/// The JSON of an event, from its type and its own fields.
macro_rules! example {
    ($type_name:literal, $fields:literal) => {
        concat!(
            "{\"id\":\"e1\",\"created_at\":\"2026-01-01T00:00:00.000000+00:00\",\"metadata\":{},\"type\":\"",
            $type_name,
            "\",",
            $fields,
            "}"
        )
    };
}

macro_rules! read_field {
    ($fields:ident, $context:ident, $field:ident) => {
        $fields.require(stringify!($field), $context)?
    };
    ($fields:ident, $context:ident, $field:ident, $default:expr) => {
        match $fields.read(stringify!($field), $context)? {
            Some(value) => value,
            None => $default,
        }
    };
}

/// Parses a field if it is the next one, and uses its default otherwise.
macro_rules! next_field {
    ($scanner:ident, $context:ident, $field:ident) => {
        if $scanner.skip_key(concat!(",\"", stringify!($field), "\":")) {
            Wire::next($scanner, $context).ok()?
        } else {
            return None;
        }
    };
    ($scanner:ident, $context:ident, $field:ident, $default:expr) => {
        if $scanner.skip_key(concat!(",\"", stringify!($field), "\":")) {
            Wire::next($scanner, $context).ok()?
        } else {
            $default
        }
    };
}

macro_rules! write_field {
    ($out:ident, $value:expr, $field:ident) => {
        $out.push_str(concat!(",\"", stringify!($field), "\":"));
        Wire::encode(&$value, $out);
    };
    ($out:ident, $value:expr, $field:ident, omitted) => {
        if $value.is_some() {
            write_field!($out, $value, $field);
        }
    };
}

pub(super) use {events, example, next_field, read_field, write_field};
