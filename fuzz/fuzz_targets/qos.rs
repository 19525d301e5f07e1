#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::qos::fuzz_qos(data));
