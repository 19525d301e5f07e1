//! The version of `metadata.yaml` of a bag.

use std::fs;

use timeloom_bag::{BagOptions, BagReader, StorageReader};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{read_bag, write_bag};

#[test]
fn a_bag_has_the_metadata_version_of_its_distribution() {
    let directory = BagScratch::new();
    for (distro, version) in [
        ("humble", 5),
        ("iron", 7),
        ("jazzy", 9),
        ("lyrical", 9),
        ("", 9),
    ] {
        let path = directory.path().join(format!("bag_{distro}"));
        let options = BagOptions {
            ros_distro: distro.into(),
            ..BagOptions::default()
        };
        write_bag(&path, options, 10);
        let text = fs::read_to_string(path.join("metadata.yaml")).unwrap();
        assert!(text.contains(&format!("  version: {version}\n")), "{text}");
        assert!(text.contains("messages_recorded: 5"), "{text}");
        // Humble and Iron read the QoS as a text with numbers.
        let old = text.contains("offered_qos_profiles: \"- history: 1\\n");
        assert_eq!(old, version < 9, "{text}");
        let reader = BagReader::open(&path).unwrap();
        let qos = &reader.info().topics[0].offered_qos_profiles;
        assert_eq!(qos.contains("reliability: 1"), version < 9, "{qos}");
        assert_eq!(read_bag(&path).len(), 10);
    }
}
