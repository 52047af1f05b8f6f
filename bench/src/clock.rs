//! CPU time, which other work on the same machine disturbs less than time on the wall.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// All rounds together take at least this much CPU time, in as many rounds as that needs.
const ENOUGH: Duration = Duration::from_millis(500);

/// What most and nearly all of some times are, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Percentiles {
    /// Half of them are not longer.
    pub p50: f64,
    /// Ninety-nine of a hundred are not longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Percentiles {
    /// Those of times that are in order.
    pub fn of(sorted: &[Duration]) -> Self {
        let at = |share: usize| {
            let index = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            sorted.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

/// The CPU time that this thread has used, in the kernel too.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// The CPU time of a step. What the step returns is dropped outside of it.
///
/// # Errors
///
/// The error of the step.
pub fn time<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = cpu_time();
    let result = std::hint::black_box(step()?);
    let spent = cpu_time().saturating_sub(start);
    drop(result);
    Ok(spent)
}

/// The least time of each step in `rounds` rounds, or in more if they are short.
///
/// Every round does every step once: what disturbs the machine for a while disturbs all steps alike, and each of them
/// gets its turn when nothing does.
///
/// # Errors
///
/// The first error of a round.
pub fn least<E, const STEPS: usize>(
    rounds: usize,
    mut round: impl FnMut() -> Result<[Duration; STEPS], E>,
) -> Result<[Duration; STEPS], E> {
    let mut times: [Vec<Duration>; STEPS] = std::array::from_fn(|_| Vec::new());
    let mut total = Duration::ZERO;
    let mut done = 0;
    while done < rounds || total < ENOUGH {
        for (times, spent) in times.iter_mut().zip(round()?) {
            times.push(spent);
            total += spent;
        }
        done += 1;
    }
    Ok(times.map(least_plausible))
}

/// The least time that is not far below the others. Where a hypervisor takes the CPU away, the clock can stand still for
/// a while, and what is measured then is nothing.
fn least_plausible(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    times.into_iter().find(|&spent| spent >= median / 2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_stood_still_does_not_count() {
        let times = [90, 0, 70, 80, 12, 100, 75];
        assert_eq!(least_plausible(times.map(Duration::from_millis).to_vec()), Duration::from_millis(70));
    }
}
