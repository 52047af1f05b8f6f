//! The macro that declares records: struct, parser, encoder and schema from one list of fields.

/// Declares a struct that is encoded as a JSON object.
///
/// ```text
/// record! {
///     /// Description of the record.
///     pub struct Name tagged "type word" {
///         /// A required field.
///         pub field: Type,
///         /// An optional field; `here` has the id and time of the record.
///         pub other: Type = |here| default expression,
///         /// A field with another name in JSON.
///         pub kind as "type": Type,
///     }
/// }
/// ```
///
/// Fields in a `beside { … }` after the others are not part of the JSON.
/// Every record also has `extra`, its undeclared fields.
macro_rules! record {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident $(tagged $tag:literal)? {
            $( $(#[doc = $field_doc:literal])+ $vis:vis $field:ident $(as $key:literal)?: $type:ty $(= |$here:ident| $default:expr)?, )+
            $(beside { $( $(#[doc = $beside_doc:literal])+ $beside_vis:vis $beside:ident: $beside_type:ty, )+ })?
        }
    ) => {
        $(#[doc = $doc])+
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $( $(#[doc = $field_doc])+ $vis $field: $type, )+
            /// Undeclared fields, in the order in which they were read.
            pub extra: $crate::json::Object,
            $($( $(#[doc = $beside_doc])+ $beside_vis $beside: $beside_type, )+)?
        }

        impl $name {
            /// Returns the schema of the record.
            pub(crate) fn record() -> $crate::json::Record {
                use $crate::json::wire::Wire;
                $crate::json::Record {
                    name: stringify!($name),
                    tag: [$($tag)?].first().copied(),
                    doc: concat!($($doc),+).trim_ascii(),
                    example: None,
                    fields: vec![$(
                        $crate::json::Field {
                            name: $crate::json::record::key_of!($field $(, $key)?),
                            shape: <$type>::shape(),
                            required: !$crate::json::record::has_default!($($default)?),
                            doc: concat!($($field_doc),+).trim_ascii(),
                        },
                    )+],
                }
            }

            /// Returns whether a key is a declared field. Extra fields cannot replace declared ones.
            pub(crate) fn declares(key: &str) -> bool {
                $( if key == "type" && !$tag.is_empty() { return true; } )?
                matches!(key, $( $crate::json::record::key_of!($field $(, $key)?) )|+)
            }

            /// Decodes the record from its fields. The caller has checked `type`.
            #[allow(unused_variables, reason = "not every record derives a field from its context")]
            pub(crate) fn from_fields(
                mut fields: $crate::json::fields::Fields<'_>,
                context: $crate::json::wire::DecodeContext<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                let own = $crate::json::record::RecordContext::new(&fields, context);
                let here = own.context();
                $( $crate::json::record::take_tag(&mut fields, $tag)?; )?
                $(
                    let $field: $type = $crate::json::record::read_field!(
                        fields, $crate::json::record::key_of!($field $(, $key)?), here $(, $here, $default)?
                    );
                )+
                Ok(Self { $($field,)+ extra: fields.rest()? $(, $($beside: Default::default()),+)? })
            }
        }

        impl<'a> $crate::json::wire::Wire<'a> for $name {
            fn shape() -> $crate::json::Shape {
                $crate::json::Shape::Record(stringify!($name))
            }

            fn decode(
                raw: $crate::json::scan::Raw<'a>,
                context: $crate::json::wire::DecodeContext<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                Self::from_fields($crate::json::fields::Fields::of(raw)?, context)
            }

            fn encode(&self, out: &mut String) {
                out.push('{');
                $( $crate::json::record::write_tag(out, $tag); )?
                $(
                    $crate::json::write::key(out, $crate::json::record::key_of!($field $(, $key)?));
                    $crate::json::wire::Wire::encode(&self.$field, out);
                )+
                self.extra.write_extra(out, Self::declares);
                out.push('}');
            }
        }
    };
}

macro_rules! has_default {
    () => {
        false
    };
    ($default:expr) => {
        true
    };
}

macro_rules! key_of {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident, $key:literal) => {
        $key
    };
}

macro_rules! read_field {
    ($fields:ident, $key:expr, $context:ident) => {
        $fields.require($key, $context)?
    };
    ($fields:ident, $key:expr, $context:ident, $here:ident, $default:expr) => {
        match $fields.read($key, $context)? {
            Some(value) => value,
            None => {
                let $here = $context;
                $default
            }
        }
    };
}

pub(crate) use {has_default, key_of, read_field, record};

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::fields::Fields;
use super::wire::DecodeContext;
use super::write;

/// The id and time of a record, given or derived, from which missing fields of nested values are derived.
#[derive(Debug)]
pub(crate) struct RecordContext<'a> {
    id: Cow<'a, str>,
    time: Cow<'a, str>,
}

impl<'a> RecordContext<'a> {
    pub(crate) fn new(fields: &Fields<'a>, context: DecodeContext<'_>) -> Self {
        let given = |name| fields.peek(name).and_then(|raw| raw.to_str().ok());
        Self {
            id: given("id").unwrap_or_else(|| Cow::Owned(context.derived_id())),
            time: given("created_at").unwrap_or_else(|| Cow::Owned(context.time.to_owned())),
        }
    }

    pub(crate) fn context(&self) -> DecodeContext<'_> {
        DecodeContext { owner: &self.id, time: &self.time, ..DecodeContext::default() }
    }
}

/// Returns the `type` of an object, which must be a string.
pub(crate) fn tag_of<'a>(fields: &Fields<'a>) -> Result<Cow<'a, str>, DecodeError> {
    let raw = fields.peek("type").ok_or_else(|| DecodeError::missing("type"))?;
    raw.to_str().map_err(|error| error.within("type"))
}

/// Takes the `type` of an object and checks it. A missing `type` is accepted.
pub(crate) fn take_tag(fields: &mut Fields<'_>, expected: &str) -> Result<(), DecodeError> {
    let Some(raw) = fields.take("type") else { return Ok(()) };
    let found = raw.to_str().map_err(|error| error.within("type"))?;
    if found == expected {
        return Ok(());
    }
    let what = format!("expected {expected:?}, found {found:?}");
    Err(DecodeError::new(DecodeErrorKind::UnknownValue, what).within("type"))
}

pub(crate) fn write_tag(out: &mut String, tag: &str) {
    write::key(out, "type");
    write::string(out, tag);
}
