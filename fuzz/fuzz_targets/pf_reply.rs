#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| timeloom_fuzz::pf_reply::fuzz_pf_reply(data));
