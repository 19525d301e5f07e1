#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::trigger::fuzz_trigger(data));
