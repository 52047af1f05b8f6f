//! Decoding of model responses to events, for each provider API.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use recount_bench::{responses, steps};

fn by_provider(criterion: &mut Criterion) {
    for response in responses::all(5_000) {
        let chunks: Vec<&str> = response.chunks.iter().map(String::as_str).collect();
        let mut group = criterion.benchmark_group(response.provider.name());
        group.throughput(Throughput::Bytes(response.bytes.len() as u64));
        group.bench_function("serde_json skips", |bencher| bencher.iter(|| steps::skip(black_box(&chunks))));
        group.bench_function("bytes to events", |bencher| {
            bencher.iter_with_large_drop(|| steps::decode_response(black_box(&response)));
        });
        group.finish();
    }
}

criterion_group! {
    name = responses_of_models;
    config = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(20);
    targets = by_provider
}
criterion_main!(responses_of_models);
