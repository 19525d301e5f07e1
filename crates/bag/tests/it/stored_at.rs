//! Where payloads are in their files.

use std::fs;

use timeloom_bag::{BagReader, StorageReader};

use crate::support::bags;

#[test]
fn a_payload_that_is_stored_as_it_is_has_a_place_in_its_file() {
    let mut found = Vec::new();
    for name in [
        "mcap_plain",
        "mcap_fastwrite",
        "mcap_split_dur",
        "mcap_zstd_fast",
        "mcap_msg_zstd",
        "mcap_file_zstd",
        "sqlite3_plain",
    ] {
        let mut reader = BagReader::open(&bags().join(name)).unwrap();
        let (mut messages, mut stored) = (0, 0);
        while reader.advance().unwrap() {
            messages += 1;
            let Some(place) = reader.stored_at() else {
                continue;
            };
            stored += 1;
            let file = fs::read(place.path).unwrap();
            let start = usize::try_from(place.offset).unwrap();
            let data = reader.message().unwrap().data;
            assert_eq!(&file[start..start + data.len()], data, "{name}");
        }
        assert!(
            messages > 0 && (stored == 0 || stored == messages),
            "{name}"
        );
        found.push((name, stored > 0));
    }
    let expected = [
        ("mcap_plain", true),
        ("mcap_fastwrite", true),
        ("mcap_split_dur", true),
        ("mcap_zstd_fast", false),
        ("mcap_msg_zstd", false),
        ("mcap_file_zstd", false),
        ("sqlite3_plain", false),
    ];
    assert_eq!(found, expected);
}
