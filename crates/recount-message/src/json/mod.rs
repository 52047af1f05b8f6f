//! The JSON parser and encoder of this crate.
//!
//! Parsing is one pass over the text: [`scan`] validates each value and finds its start and end, and nothing is copied until a
//! field is requested. `serde_json` is not used for this because arbitrary JSON must be preserved as text (number lexemes, order
//! and duplicate keys), because errors must name the field, and because parsing a text delta takes half the time this way. A
//! property test and a fuzz target compare the scanner with the grammar of `serde_json`.
//!
//! The encoding is canonical: declared keys in their order, then undeclared keys in the order in which they were read, no white
//! space, and strings escaped as by `serde_json`, Python's `pydantic` and JavaScript's `JSON.stringify`.

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
