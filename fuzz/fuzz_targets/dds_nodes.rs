#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::dds_nodes::fuzz_dds_nodes(data));
