#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::sync_table::fuzz_sync_table(data));
