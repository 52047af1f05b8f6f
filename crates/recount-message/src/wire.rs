//! Untyped parsing and writing of JSON, for implementing other wire formats.
//!
//! [`Fields`] are the scanned, not yet parsed fields of one object. [`Raw`] is one value as text. Both borrow from the input, and
//! their errors are [`DecodeError`](crate::DecodeError)s with the path of the field.
//!
//! ```
//! use recount_message::wire::{Fields, write_key, write_string};
//!
//! let mut fields = Fields::document(r#"{"replyId":"r1","delta":"Hello"}"#)?;
//! let delta = fields.take("delta").map(|raw| raw.to_str()).transpose()?;
//!
//! let mut out = String::from("{");
//! write_key(&mut out, "delta");
//! write_string(&mut out, &delta.unwrap_or_default());
//! out.push('}');
//! assert_eq!(out, r#"{"delta":"Hello"}"#);
//! # Ok::<(), recount_message::DecodeError>(())
//! ```

pub use crate::json::fields::Fields;
pub use crate::json::hash::Fnv1a;
pub use crate::json::object_writer::ObjectWriter;
pub use crate::json::scan::{Elements, Kind, Raw};
pub use crate::json::write::{key as write_key, string as write_string};
