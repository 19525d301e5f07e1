//! Every bag that the real rosbag2 recorded opens, with the same information as in `ros2 bag info`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use timeloom_bag::conformance::read_all;
use timeloom_bag::info::{InfoLayout, SortTopics, render};
use timeloom_bag::{
    BagInfo, BagOptions, BagReader, BagWriter, Message, Order, Query, StorageId, StorageReader,
    TopicInfo, TopicStatistics, UnknownMessages,
};
use timeloom_testkit::mcap::BagScratch;

use crate::support::{bag_directories, bags, files_below};

/// The bags with a captured `ros2 bag info`.
fn captured() -> Vec<String> {
    let names = files_below(&bags().join("info")).into_iter();
    let names = names.filter_map(|path| {
        path.file_name()?
            .to_str()?
            .strip_suffix(".info.txt")
            .map(str::to_owned)
    });
    names.collect()
}

fn capture(name: &str, kind: &str) -> String {
    let text = fs::read_to_string(bags().join(format!("info/{name}.{kind}.txt"))).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('['))
        .fold(String::new(), |text, line| text + line + "\n")
}

#[test]
fn the_info_text_equals_that_of_ros2_bag_info() {
    let names = captured();
    assert_eq!(names.len(), 12);
    let directory = BagScratch::new();
    for name in names {
        let path = as_captured(&name, &directory);
        let info = BagInfo::open(&path).unwrap();
        assert_eq!(info.damage, Vec::<String>::new(), "{name}");
        assert_eq!(
            render(&info, &InfoLayout::default()),
            capture(&name, "info"),
            "{name}"
        );
    }
}

#[test]
fn the_verbose_info_text_equals_that_of_ros2_bag_info() {
    let mut compared = 0;
    let directory = BagScratch::new();
    for name in captured() {
        let path = as_captured(&name, &directory);
        let mut info = BagInfo::open(&path).unwrap();
        info.count_messages(BagReader::open(&path).unwrap())
            .unwrap();
        let text = render(&info, &InfoLayout::default());
        let expected = capture(&name, "info_verbose");
        // The real one fails on compressed files and on files without an index; ours must not.
        if !expected.contains("Service information:") {
            assert!(text.contains("Request Count:"), "{name}");
            continue;
        }
        if name == "mcap_split_dur" {
            // The real one repeats the service for each file; ours shows it once, with the sum.
            let sum: u64 = expected.matches("Request Count: 4").count() as u64 * 4;
            assert!(
                text.contains(&format!("Request Count: {sum} | Response Count: {sum}")),
                "{text}"
            );
            continue;
        }
        // The real one does not decompress messages before it looks for events, and finds none.
        let expected = if name == "mcap_msg_zstd" {
            assert!(text.contains("Request Count: 4 | Response Count: 6"));
            expected.replace(
                "Request Count: 0 | Response Count: 0",
                "Request Count: 4 | Response Count: 6",
            )
        } else {
            expected
        };
        assert_eq!(text, expected, "{name}");
        compared += 1;
    }
    assert_eq!(compared, 8);
}

/// A golden bag in the state that `ros2 bag info` saw: without the file that sqlite3 creates for a reader.
fn as_captured(name: &str, directory: &Path) -> PathBuf {
    let copy = directory.join(name);
    fs::create_dir(&copy).unwrap();
    for file in files_below(&bags().join(name)) {
        if file
            .extension()
            .is_none_or(|extension| extension != "db3-shm")
        {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
    }
    copy
}

#[test]
fn every_file_in_the_directory_counts_for_the_size() {
    let directory = BagScratch::new();
    let bag = as_captured("sqlite3_resilient", &directory);
    let before = BagInfo::open(&bag).unwrap().size_bytes;
    fs::write(bag.join("sqlite3_resilient_0.db3-shm"), [0; 1000]).unwrap();
    assert_eq!(BagInfo::open(&bag).unwrap().size_bytes, before + 1000);
}

/// Reads a whole bag and compares it with its own metadata.
fn check_bag(path: &Path) {
    let mut reader =
        BagReader::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let info = reader.info().clone();
    let messages = read_all(&mut reader, &Query::default()).unwrap();
    let metadata = reader.bags()[0].metadata.clone();
    let mut counts: BTreeMap<&str, u64> = info
        .topics
        .iter()
        .map(|topic| (topic.name.as_str(), 0))
        .collect();
    for message in &messages {
        *counts.get_mut(message.topic.as_str()).unwrap() += 1;
    }
    for (topic, count) in info.topics.iter().zip(&info.message_counts) {
        assert_eq!(
            counts[topic.name.as_str()],
            *count,
            "{}: {}",
            path.display(),
            topic.name
        );
    }
    assert!(messages.is_sorted_by_key(|message| message.log_time_ns));
    let mut reversed = read_all(
        &mut reader,
        &Query {
            order: Order::ReverseLogTime,
            ..Query::default()
        },
    )
    .unwrap();
    reversed.reverse();
    assert!(reversed == messages, "{}: reverse", path.display());
    let Some(metadata) = metadata else { return };
    assert_eq!(
        messages.len() as u64,
        metadata.message_count,
        "{}",
        path.display()
    );
    for record in &metadata.topics {
        let name = record.topic.name.as_str();
        assert_eq!(
            counts[name],
            record.message_count,
            "{}: {name}",
            path.display()
        );
        let topic = info.topics.iter().find(|topic| topic.name == name).unwrap();
        assert_eq!(topic.type_name, record.topic.type_name);
        if metadata.version >= 9 {
            assert_eq!(
                topic.offered_qos_profiles, record.topic.offered_qos_profiles,
                "{name}"
            );
            assert_eq!(
                topic.type_description_hash, record.topic.type_description_hash,
                "{name}"
            );
        }
    }
    if let (Some(first), Some(last)) = (messages.first(), messages.last()) {
        // One sample of rosbag2 was edited by hand and states another start.
        if metadata.version >= 9 {
            assert_eq!(
                first.log_time_ns,
                metadata.starting_time_ns,
                "{}",
                path.display()
            );
            assert_eq!(last.log_time_ns - first.log_time_ns, metadata.duration_ns);
        }
    }
}

#[test]
fn every_golden_bag_equals_its_metadata() {
    let directories = bag_directories();
    assert_eq!(directories.len(), 33);
    for directory in directories {
        check_bag(&directory);
    }
}

#[test]
fn every_single_golden_file_opens_alone() {
    let mut opened = 0;
    for path in files_below(&bags()) {
        if StorageId::from_path(&path).is_some() {
            check_bag(&path);
            opened += 1;
        }
    }
    assert!(opened >= 45, "{opened} files");
}

#[test]
fn reading_changes_no_file() {
    let directory = BagScratch::new();
    for name in ["sqlite3_resilient", "sqlite3_plain"] {
        let copy = directory.path().join(name);
        fs::create_dir(&copy).unwrap();
        let db = format!("{name}_0.db3");
        fs::copy(bags().join(name).join(&db), copy.join(&db)).unwrap();
        check_bag(&copy.join(&db));
        assert_eq!(files_below(&copy).len(), 1, "{name}");
    }
}

#[test]
fn the_json_model_has_the_numbers() {
    let info = BagInfo::open(&bags().join("mcap_plain")).unwrap();
    let json = serde_json::to_value(&info).unwrap();
    assert_eq!(json["message_count"], 458);
    assert_eq!(json["topics"][0]["name"], "/points");
    assert_eq!(json["services"][0]["event_count"], 16);
    assert_eq!(json["start_time_ns"], 1_794_733_131_923_572_955_i64);
}

#[test]
fn info_reports_files_that_contradict_the_metadata() {
    let directory = BagScratch::new();
    for name in [
        "mcap_plain",
        "sqlite3_plain",
        "mcap_file_zstd",
        "sqlite3_file_zstd",
    ] {
        let copy = directory.path().join(name);
        fs::create_dir(&copy).unwrap();
        for file in files_below(&bags().join(name)) {
            fs::copy(&file, copy.join(file.file_name().unwrap())).unwrap();
        }
        let file = files_below(&copy)
            .into_iter()
            .find(|file| file.extension().unwrap() != "yaml")
            .unwrap();
        fs::write(&file, b"this was a bag once").unwrap();
        let info = BagInfo::open(&copy).unwrap();
        assert_eq!(info.damage.len(), 1, "{name}: {:?}", info.damage);
        let layout = InfoLayout {
            damage: true,
            ..InfoLayout::default()
        };
        assert!(
            render(&info, &layout).contains("Damage:            "),
            "{name}"
        );
        fs::remove_file(&file).unwrap();
        assert!(BagInfo::open(&copy).is_err(), "{name}: nothing is left");
    }
}

#[test]
fn the_text_can_be_sorted_and_show_sizes_and_losses() {
    let path = bags().join("mcap_plain");
    let mut info = BagInfo::open(&path).unwrap();
    info.count_messages(BagReader::open(&path).unwrap())
        .unwrap();
    let names = |sort| {
        render(
            &info,
            &InfoLayout {
                sort,
                names_only: true,
                ..InfoLayout::default()
            },
        )
    };
    assert!(names(SortTopics::Name).starts_with("/camera/image_raw\n/chatter\n/clock\n"));
    // The orders of `ros2 bag info --sort` of Jazzy for this bag.
    let by_count = "/parameter_events /robot_description /tf_static /diagnostics /fix /empty /keep_all /points \
                    /clock /camera/image_raw /joint_states /scan /tf /chatter /imu/data ";
    let by_type = "/diagnostics /parameter_events /clock /camera/image_raw /imu/data /joint_states /scan /fix \
                   /points /empty /keep_all /robot_description /chatter /tf_static /tf ";
    assert_eq!(names(SortTopics::Count).replace('\n', " "), by_count);
    assert_eq!(names(SortTopics::Type).replace('\n', " "), by_type);
    assert_eq!(info.services[0].size_bytes, Some(944));
    info.topics[0].statistics = Some(TopicStatistics {
        messages_lost_in_transport: 3,
        unknown: UnknownMessages {
            before_first: 7,
            open_publishers: 1,
            ..UnknownMessages::default()
        },
        ..TopicStatistics::default()
    });
    let layout = InfoLayout {
        size_contribution: true,
        losses: true,
        ..InfoLayout::default()
    };
    let text = render(&info, &layout);
    assert!(text.contains(
        "Topic: /points | Type: sensor_msgs/msg/PointCloud2 | Count: 21 | Size Contribution: "
    ));
    assert!(text.contains("| Lost in Transport: 3 | Lost in Recorder: 0\n"));
    assert!(text.contains(
        "\nUnknown:           /points: at most 7 messages before the first one received"
    ));
    assert!(text.contains(
        "\n                   /points: messages after the last one received from 1 publisher"
    ));
    let quiet = render(&info, &InfoLayout::default());
    assert!(!quiet.contains("Unknown"), "as ros2 bag info shows it");
}

#[test]
fn without_services_the_text_ends_without_an_empty_line_and_events_of_actions_are_topics() {
    let directory = BagScratch::new();
    let bag = directory.join("run");
    let mut writer = BagWriter::create(&bag, BagOptions::default()).unwrap();
    let event = "/count/_action/send_goal/_service_event";
    let action = TopicInfo::new(event, "my/action/Count_SendGoal_Event");
    let id = writer.add_topic(&action).unwrap();
    let message = Message {
        topic: id,
        log_time_ns: 1,
        publish_time_ns: 1,
        sequence: 0,
        data: &[0; 8],
    };
    assert!(writer.write(&[message], 1).is_ok());
    assert!(writer.finish().unwrap().1.is_ok());
    let text = render(&BagInfo::open(&bag).unwrap(), &InfoLayout::default());
    assert!(text.contains("Messages:          1\n"), "{text}");
    assert!(text.contains(&format!("Topic: {event} | ")), "{text}");
    assert!(
        text.ends_with("Service:           0\nService information: \n"),
        "{text}"
    );
}
