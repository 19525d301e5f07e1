#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::plan::fuzz_plan(data));
