//! CPU time, which is less affected by other load on the machine than wall-clock time.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// The minimum CPU time of all rounds together. Short rounds are repeated until it is reached.
const MIN_TOTAL: Duration = Duration::from_millis(500);

/// Percentiles of durations, in milliseconds.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Percentiles {
    /// The median.
    pub p50: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub max: f64,
}

impl Percentiles {
    /// Returns the percentiles of sorted durations.
    pub fn of(sorted: &[Duration]) -> Self {
        let at = |share: usize| {
            let index = (sorted.len() * share / 100).min(sorted.len().saturating_sub(1));
            sorted.get(index).map_or(f64::NAN, |time| time.as_secs_f64() * 1e3)
        };
        Self { p50: at(50), p99: at(99), max: at(100) }
    }
}

/// Returns the CPU time of this thread, in user and kernel mode.
pub fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or_default();
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(seconds, nanoseconds)
}

/// Returns the CPU time of a step, without dropping its result.
///
/// # Errors
///
/// Returns the error of the step.
pub fn time<T, E>(step: impl FnOnce() -> Result<T, E>) -> Result<Duration, E> {
    let start = cpu_time();
    let result = std::hint::black_box(step()?);
    let spent = cpu_time().saturating_sub(start);
    drop(result);
    Ok(spent)
}

/// Returns the minimum time of each step over `rounds` rounds, or over more if they are short.
///
/// Each round runs every step once, so that temporary load on the machine affects all steps alike.
///
/// # Errors
///
/// Returns the first error of a round.
pub fn least<E, const STEPS: usize>(
    rounds: usize,
    mut round: impl FnMut() -> Result<[Duration; STEPS], E>,
) -> Result<[Duration; STEPS], E> {
    let mut times: [Vec<Duration>; STEPS] = std::array::from_fn(|_| Vec::new());
    let mut total = Duration::ZERO;
    let mut done = 0;
    while done < rounds || total < MIN_TOTAL {
        for (times, spent) in times.iter_mut().zip(round()?) {
            times.push(spent);
            total += spent;
        }
        done += 1;
    }
    Ok(times.map(least_plausible))
}

/// Returns the minimum of the times that are at least half of the median. On a virtual machine, the CPU clock can stop for a
/// while and yield times that are too short.
fn least_plausible(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    let median = times.get(times.len() / 2).copied().unwrap_or_default();
    times.into_iter().find(|&spent| spent >= median / 2).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_plausible_ignores_times_below_half_of_the_median() {
        let times = [90, 0, 70, 80, 12, 100, 75];
        assert_eq!(least_plausible(times.map(Duration::from_millis).to_vec()), Duration::from_millis(70));
    }
}
