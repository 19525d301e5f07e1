#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::zenoh::fuzz_zenoh(data));
