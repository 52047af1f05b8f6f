//! Events and messages: all steps of all streams, and the time per event as messages grow.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::{Measurement, ValueFormatter, WallTime};
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use recount_bench::clock::cpu_time;
use recount_bench::steps;
use recount_bench::streams::{self, Stream};

/// CPU time as a measurement of criterion.
struct CpuTime;

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        cpu_time()
    }

    fn end(&self, start: Duration) -> Duration {
        cpu_time().saturating_sub(start)
    }

    fn add(&self, one: &Duration, other: &Duration) -> Duration {
        *one + *other
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        WallTime.to_f64(value)
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        WallTime.formatter()
    }
}

/// Measures all steps of all streams, at a tenth of the size used in the table.
fn streams_by_step(criterion: &mut Criterion<CpuTime>) {
    let all = [
        streams::text(10_000),
        streams::blocks(200, 50),
        streams::arguments(2_000),
        streams::data(500_000, 50),
        streams::mixed(5_000),
    ];
    for stream in &all {
        steps_of(criterion, stream);
    }
}

fn steps_of(criterion: &mut Criterion<CpuTime>, stream: &Stream) {
    let byte_lines = stream.byte_lines();
    let lines = stream.lines();
    let Ok(events) = steps::events(&lines) else { return };
    let fold = steps::fold(&events);

    let mut group = criterion.benchmark_group(&stream.name);
    group.throughput(Throughput::ElementsAndBytes { elements: stream.events as u64, bytes: stream.text.len() as u64 });
    group.bench_function("serde_json skips", |bencher| bencher.iter(|| steps::skip(black_box(&lines))));
    group.bench_function("decode", |bencher| bencher.iter(|| steps::decode(black_box(&lines))));
    group.bench_function("decode, owned", |bencher| bencher.iter(|| steps::decode_owned(black_box(&lines))));
    group.bench_function("fold", |bencher| bencher.iter_with_large_drop(|| steps::fold(black_box(&events))));
    group.bench_function("bytes to message", |bencher| {
        bencher.iter_with_large_drop(|| steps::bytes_to_message(black_box(&byte_lines)));
    });
    group.bench_function("encode", |bencher| bencher.iter(|| steps::encode(black_box(&events))));
    group.bench_function("encode the message", |bencher| bencher.iter(|| steps::encode_messages(black_box(&fold))));
    group.finish();
}

fn growth(criterion: &mut Criterion<CpuTime>) {
    growth_of(criterion, "blocks in turn", &streams::BLOCKS, streams::blocks_of_size);
    growth_of(criterion, "blocks all open", &streams::BLOCKS, streams::open_blocks_of_size);
    growth_of(criterion, "data deltas", &streams::DATA_DELTAS, streams::data_of_size);
}

fn growth_of(criterion: &mut Criterion<CpuTime>, of: &str, sizes: &[usize], stream: fn(usize) -> Stream) {
    let mut group = criterion.benchmark_group(of);
    for &size in sizes {
        let stream = stream(size);
        let lines = stream.lines();
        let Ok(events) = steps::events(&lines) else { continue };
        group.throughput(Throughput::Elements(stream.events as u64));
        group.bench_function(BenchmarkId::new("fold", size), |bencher| {
            bencher.iter_with_large_drop(|| steps::fold(black_box(&events)));
        });
    }
    group.finish();
}

criterion_group! {
    name = message;
    config = Criterion::default()
        .with_measurement(CpuTime)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = streams_by_step, growth
}
criterion_main!(message);
