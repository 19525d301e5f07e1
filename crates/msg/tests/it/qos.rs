//! `QoS` blocks of real bags: read, and written back byte for byte.

use serde::Deserialize;
use timeloom_msg::qos::{
    QosProfiles, QosSpelling, parse_overrides, parse_profiles, profiles_to_yaml, write_profiles,
};

use crate::bags;

#[test]
fn channel_metadata_of_mcap_bags() {
    let mut seen = std::collections::BTreeSet::new();
    for bag in bags::BAGS {
        seen.extend(bags::messages(bag).into_iter().map(|message| message.qos));
    }
    assert!(seen.len() >= 15, "{}", seen.len());
    for text in seen {
        let spelling = if text.contains("history: k") || text.contains("history: u") {
            QosSpelling::Names
        } else {
            QosSpelling::Numbers
        };
        let profiles = parse_profiles(&text).unwrap();
        assert_eq!(profiles_to_yaml(&profiles, spelling), text);
    }
}

/// The indented blocks below each `offered_qos_profiles:` line of a metadata.yaml.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line.trim() != "offered_qos_profiles:" {
            continue;
        }
        let mut block = Vec::new();
        while let Some(inner) = lines.next_if(|inner| inner.starts_with("          ")) {
            block.push(inner);
        }
        blocks.push(block.join("\n"));
    }
    blocks
}

#[test]
fn metadata_of_version_9_byte_for_byte() {
    let files = [
        include_str!("../data/qos/cyclone_v9.yaml"),
        include_str!("../data/qos/fastrtps_v9.yaml"),
    ];
    let mut count = 0;
    for block in files.iter().flat_map(|text| blocks(text)) {
        let profiles = parse_profiles(&block).unwrap();
        let mut out = String::new();
        write_profiles(&mut out, &profiles, QosSpelling::Names, 10);
        assert_eq!(out, block);
        count += 1;
    }
    assert!(count >= 30, "{count}");
}

#[derive(Deserialize)]
struct Metadata {
    rosbag2_bagfile_information: Information,
}

#[derive(Deserialize)]
struct Information {
    topics_with_message_count: Vec<Topic>,
}

#[derive(Deserialize)]
struct Topic {
    topic_metadata: TopicMetadata,
}

#[derive(Deserialize)]
struct TopicMetadata {
    offered_qos_profiles: QosProfiles,
}

#[test]
fn profiles_inside_whole_documents() {
    let counts = [
        (
            include_str!("../data/qos/cyclone_v9.yaml"),
            QosSpelling::Names,
        ),
        (
            include_str!("../data/qos/talker_v4.yaml"),
            QosSpelling::Numbers,
        ),
        (include_str!("../data/qos/wbag.yaml"), QosSpelling::Numbers),
    ]
    .map(|(text, spelling)| {
        let metadata: Metadata = serde_saphyr::from_str(text).unwrap();
        let topics = metadata
            .rosbag2_bagfile_information
            .topics_with_message_count;
        for topic in &topics {
            let profiles = &topic.topic_metadata.offered_qos_profiles.0;
            let written = profiles_to_yaml(profiles, spelling);
            assert_eq!(&parse_profiles(&written).unwrap(), profiles);
            if spelling == QosSpelling::Numbers && !profiles.is_empty() {
                // Old files hold the text in quotes, with \n for line ends.
                assert!(text.contains(&written.replace('\n', "\\n")), "{written}");
            }
        }
        topics.len()
    });
    assert!(counts.iter().all(|count| *count >= 3), "{counts:?}");
}

#[test]
fn override_files_of_rosbag2() {
    let overrides =
        parse_overrides(include_str!("../data/qos/qos_profile_overrides.yaml")).unwrap();
    assert_eq!(overrides["/overrided_topic_qos"].depth, 10);
    let overrides = parse_overrides(include_str!("../data/qos/qos_profile.yaml")).unwrap();
    assert_eq!(
        overrides["/test_topic"].durability.name(),
        "transient_local"
    );
    // rosbag2 accepts this one: it has history and depth.
    assert!(parse_overrides(include_str!("../data/qos/incomplete_qos_profile.yaml")).is_ok());
    let error = parse_overrides(include_str!("../data/qos/incomplete_qos_duration.yaml"))
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "invalid qos profile: /test_topic: a duration needs both sec and nsec"
    );
}
