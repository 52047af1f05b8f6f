//! Splitting calls into batches.

/// Calls that run together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Batch {
    /// Calls that run concurrently.
    Concurrent(Vec<String>),
    /// Calls that run one after another.
    Sequential(Vec<String>),
}

/// Splits calls into batches of consecutive concurrent or sequential calls, preserving their order.
///
/// ```
/// use recount_agent::machine::{Batch, batches};
///
/// let calls = ["read", "list", "write", "read_again"].map(str::to_owned);
/// let split = batches(calls, |call| call != "write");
/// assert_eq!(split.len(), 3);
/// assert_eq!(split[1], Batch::Sequential(vec!["write".to_owned()]));
/// ```
pub fn batches(calls: impl IntoIterator<Item = String>, is_concurrent: impl Fn(&str) -> bool) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for call in calls {
        match (is_concurrent(&call), batches.last_mut()) {
            (true, Some(Batch::Concurrent(calls))) | (false, Some(Batch::Sequential(calls))) => calls.push(call),
            (true, _) => batches.push(Batch::Concurrent(vec![call])),
            (false, _) => batches.push(Batch::Sequential(vec![call])),
        }
    }
    batches
}
