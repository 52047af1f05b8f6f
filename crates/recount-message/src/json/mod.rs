//! JSON as this crate reads and writes it.
//!
//! Reading is one pass over the text: [`scan`] finds where each value begins and ends and checks it, and nothing is
//! copied until a field is asked for. `serde_json` would do for the grammar; it is not used here because free JSON
//! has to survive as text (number lexemes, order and repeated keys included), because errors must name the field, and
//! because a text delta costs half as much this way. A property test and a fuzz target hold the scanner to
//! `serde_json`'s grammar.
//!
//! Writing is canonical: declared keys in their order, then unknown keys as they came, no white space, and every
//! string escaped in the one way that `serde_json`, Python's `pydantic` and JavaScript's `JSON.stringify` share.

pub(crate) mod error;
pub(crate) mod fields;
pub(crate) mod hash;
pub(crate) mod object;
pub(crate) mod object_writer;
pub(crate) mod record;
pub(crate) mod scan;
mod serde;
pub(crate) mod shape;
pub(crate) mod value;
pub(crate) mod wire;
pub(crate) mod write;

pub use error::{DecodeError, DecodeErrorKind};
pub use object::Object;
pub use shape::{Field, Record, Shape};
pub use value::Json;
