//! The declaration of a record: its struct, how it is read and written, and its description, from one list of fields.

/// Declares a struct that stands for a JSON object.
///
/// ```text
/// record! {
///     /// What it is.
///     pub struct Name tagged "type word" {
///         /// A field that must be there.
///         pub field: Type,
///         /// A field that may be missing; `here` is the record's own id and time.
///         pub other: Type = |here| default expression,
///         /// A field that has another name in JSON.
///         pub kind as "type": Type,
///     }
/// }
/// ```
///
/// What stands in a `beside { … }` after the fields is no part of the JSON.
/// Every record also has `extra`, the fields that it does not know.
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
            /// The fields that are not declared here, as they came.
            pub extra: $crate::json::Object,
            $($( $(#[doc = $beside_doc])+ $beside_vis $beside: $beside_type, )+)?
        }

        impl $name {
            /// The declared fields and what they mean.
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

            /// Whether a key is one of the declared ones, which no extra can replace.
            pub(crate) fn declares(key: &str) -> bool {
                $( if key == "type" && !$tag.is_empty() { return true; } )?
                matches!(key, $( $crate::json::record::key_of!($field $(, $key)?) )|+)
            }

            /// Reads the record from its fields; `type` has been looked at before.
            #[allow(unused_variables, reason = "not every record derives something from its place")]
            pub(crate) fn from_fields(
                mut fields: $crate::json::fields::Fields<'_>,
                place: $crate::json::wire::Place<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                let own = $crate::json::record::Own::new(&fields, place);
                let here = own.place();
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
                place: $crate::json::wire::Place<'_>,
            ) -> Result<Self, $crate::DecodeError> {
                Self::from_fields($crate::json::fields::Fields::of(raw)?, place)
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
    ($fields:ident, $key:expr, $place:ident) => {
        $fields.require($key, $place)?
    };
    ($fields:ident, $key:expr, $place:ident, $here:ident, $default:expr) => {
        match $fields.read($key, $place)? {
            Some(value) => value,
            None => {
                let $here = $place;
                $default
            }
        }
    };
}

pub(crate) use {has_default, key_of, read_field, record};

use std::borrow::Cow;

use super::error::{DecodeError, DecodeErrorKind};
use super::fields::Fields;
use super::wire::Place;
use super::write;

/// What a record passes on to the values inside it: its own id and time, given or derived.
#[derive(Debug)]
pub(crate) struct Own<'a> {
    id: Cow<'a, str>,
    time: Cow<'a, str>,
}

impl<'a> Own<'a> {
    pub(crate) fn new(fields: &Fields<'a>, place: Place<'_>) -> Self {
        let given = |name| fields.peek(name).and_then(|raw| raw.to_str().ok());
        Self {
            id: given("id").unwrap_or_else(|| Cow::Owned(place.derived_id())),
            time: given("created_at").unwrap_or_else(|| Cow::Owned(place.time.to_owned())),
        }
    }

    pub(crate) fn place(&self) -> Place<'_> {
        Place { owner: &self.id, time: &self.time, ..Place::default() }
    }
}

/// The `type` of an object, where it is a string.
pub(crate) fn tag_of<'a>(fields: &Fields<'a>) -> Result<Cow<'a, str>, DecodeError> {
    let raw = fields.peek("type").ok_or_else(|| DecodeError::missing("type"))?;
    raw.to_str().map_err(|error| error.within("type"))
}

/// Takes the `type` of an object, which must say that it is what it should be. One that says nothing is believed.
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
