//! Load tests of the service and of Nchan, each in a process of its own.
//!
//! [`process`] starts the servers, and [`wire`] is the HTTP client. [`fanout`] measures the latency of events to many readers,
//! [`idle`] the memory of idle readers and the start of the service, [`appends`] the throughput of appends, and [`joins`] the
//! time to the first event after a reconnect.

pub mod appends;
pub mod fanout;
pub mod idle;
pub mod joins;
pub mod process;
pub mod wire;
