//! Keys of the metadata that are set while a bag is written.

use timeloom_bag::metadata::read_metadata_file;
use timeloom_bag::{BagOptions, BagWriter};
use timeloom_testkit::mcap::BagScratch;

use crate::support::storages;

#[test]
fn custom_data_set_during_writing_is_in_the_metadata() {
    let directory = BagScratch::new();
    for (number, (_, storage)) in storages().into_iter().enumerate() {
        let path = directory.path().join(format!("custom_{number}"));
        let options = BagOptions {
            storage,
            custom_data: vec![("operator".into(), "ana".into())],
            ..BagOptions::default()
        };
        let mut writer = BagWriter::create(&path, options).unwrap();
        let value = |metadata: &timeloom_bag::BagMetadata| {
            let pairs = metadata.custom_data.iter();
            let values = pairs.filter(|(key, _)| key == "clock");
            values.map(|(_, value)| value.clone()).collect::<Vec<_>>()
        };
        writer.set_custom_data("clock", "first\nline").unwrap();
        let open = read_metadata_file(&path).unwrap();
        assert_eq!(value(&open), ["first\nline"], "it would survive a crash");
        writer.split().unwrap();
        writer.set_custom_data("clock", "second").unwrap();
        let (summary, _) = writer.finish().unwrap();
        assert_eq!(value(&summary.metadata), ["second"]);
        let stored = read_metadata_file(&path).unwrap();
        assert_eq!(stored.custom_data, summary.metadata.custom_data);
        assert!(
            stored
                .custom_data
                .contains(&("operator".into(), "ana".into()))
        );
    }
}
