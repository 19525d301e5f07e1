//! `QoS` profiles: as bags hold them, and as files of overrides.

use timeloom_msg::qos::{QosSpelling, parse_overrides, parse_profiles, profiles_to_yaml};

/// Parses a text; what was understood is written and read back the same.
pub fn fuzz_qos(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(profiles) = parse_profiles(&text) {
        for spelling in [QosSpelling::Names, QosSpelling::Numbers] {
            let written = profiles_to_yaml(&profiles, spelling);
            let again = parse_profiles(&written).expect("written profiles parse");
            assert_eq!(again, profiles, "{written}");
        }
    }
    if let Ok(overrides) = parse_overrides(&text) {
        assert!(overrides.len() <= text.len());
    }
}
