//! Tables of samples (`sync fit`), of times of a device (`sync convert`) and of what was fitted.

use timeloom_sync::table::{
    DeviceTimeReader, MappedReader, SAMPLE_HEADER, read_samples, write_samples,
};
use timeloom_sync::{Limits, Method, Sample, causal, smooth};

/// Reads a table in each way; the samples of one go through every estimator, and come back the same when written.
pub fn fuzz_sync_table(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    check_samples(&text);
    // Most inputs have lost their header: they are tables with it.
    check_samples(&format!("{SAMPLE_HEADER}\n{text}"));
    let (mut times, mut mapped) = (DeviceTimeReader::new(), MappedReader::new());
    for line in text.lines() {
        let _time = times.line(line);
        let _row = mapped.line(line);
    }
    let _finished = (times.finish(), mapped.finish());
}

fn check_samples(text: &str) {
    let Ok(rows) = read_samples(text) else {
        return;
    };
    let samples: Vec<Sample> = rows.iter().map(|row| row.sample).collect();
    let written = write_samples(&samples);
    let again = read_samples(&written).expect("a written table reads");
    assert!(
        again
            .iter()
            .map(|row| row.sample)
            .eq(samples.iter().copied())
    );
    let limits = Limits::default();
    for method in Method::ALL {
        if let Ok(mapped) = causal(&samples, &mut method.clock(limits)) {
            assert_eq!(mapped.len(), samples.len());
        }
    }
    if let Ok(mapped) = smooth(&samples, &limits) {
        assert_eq!(mapped.len(), samples.len());
    }
}
