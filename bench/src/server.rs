//! The service under load, as a process of its own, beside Nchan.
//!
//! [`process`] starts the two, [`wire`] speaks with them, and each of the others measures something: [`fanout`] how long an
//! event is on its way to many readers, [`idle`] what is taken by who does nothing, [`appends`] how fast events are
//! taken, [`joins`] how soon somebody has something who comes back.

pub mod appends;
pub mod fanout;
pub mod idle;
pub mod joins;
pub mod process;
pub mod wire;
