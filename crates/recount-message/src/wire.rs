//! Reading and writing JSON without a type for it: for who translates between Recount and another wire format.
//!
//! [`Fields`] are those of one object, found but not yet read; [`Raw`] is a value as it stands in the text. Both borrow,
//! and what goes wrong is a [`DecodeError`](crate::DecodeError) that says where.
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
