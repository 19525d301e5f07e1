#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::dds_endpoint::fuzz_dds_endpoint(data));
