#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::pf_packet::fuzz_pf_packet(data));
