//! `metadata.yaml`, and YAML itself.

use timeloom_bag::{BagMetadata, yaml};

/// Parses a text; what was understood is written and read back the same.
pub fn fuzz_metadata(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(node) = yaml::parse(&text) {
        let written = yaml::emit(&node);
        let again = yaml::parse(&written).expect("written YAML parses");
        assert_eq!(yaml::emit(&again), written);
    }
    if let Ok(metadata) = BagMetadata::parse(&text) {
        for written in [metadata.to_yaml(), metadata.to_embedded_yaml()] {
            BagMetadata::parse(&written).expect("written metadata parses");
        }
        let written = metadata.to_yaml();
        let again = BagMetadata::parse(&written).expect("written metadata parses");
        assert_eq!(again.to_yaml(), written);
    }
}
