//! The table as bytes.

use std::sync::Arc;

use proptest::prelude::*;
use timeloom_bag::{
    BagSummary, MessageDefinition, StorageId, TopicInfo, TopicStatistics, UnknownMessages,
};
use timeloom_catalog::{Catalog, Content, Entry, Error};

fn topic() -> impl Strategy<Value = TopicInfo> {
    let text = || "[a-zé/\"\n]{0,6}";
    (text(), text(), text(), text(), text(), text()).prop_map(
        |(name, kind, qos, hash, code, text)| TopicInfo {
            name,
            type_name: kind,
            serialization_format: "cdr".into(),
            offered_qos_profiles: qos,
            type_description_hash: hash,
            definition: MessageDefinition {
                encoding: code,
                text,
            },
        },
    )
}

fn statistics() -> impl Strategy<Value = Option<TopicStatistics>> {
    let time = proptest::option::of(any::<i64>());
    let all = (any::<[u64; 5]>(), any::<bool>(), time.clone(), time);
    proptest::option::of(all).prop_map(|it| {
        it.map(
            |(n, interrupted, first_time_ns, last_time_ns)| TopicStatistics {
                messages_recorded: n[0],
                messages_lost_in_transport: n[1],
                unknown: UnknownMessages {
                    uncounted: n[0] % 3 == 0,
                    before_first: n[2],
                    open_publishers: n[3],
                    unplaced: 0,
                    interrupted,
                },
                bytes_written: n[4],
                first_time_ns,
                last_time_ns,
                ..TopicStatistics::default()
            },
        )
    })
}

fn summary() -> impl Strategy<Value = BagSummary> {
    let topics = proptest::collection::vec((topic(), any::<u64>(), statistics()), 0..4);
    let time = proptest::option::of(any::<i64>());
    let damage = proptest::collection::vec("[ -~\n]{0,8}", 0..3);
    let rest = (any::<[u64; 2]>(), "[a-z]{0,5}", 0..3_usize);
    (topics, time.clone(), time, damage, rest).prop_map(|(topics, start, end, damage, rest)| {
        let (numbers, ros_distro, storage) = rest;
        BagSummary {
            topics: topics.iter().map(|(topic, _, _)| topic.clone()).collect(),
            message_counts: topics.iter().map(|(_, count, _)| *count).collect(),
            statistics: topics.iter().map(|(_, _, it)| *it).collect(),
            start_time_ns: start,
            end_time_ns: end,
            ros_distro,
            storage: StorageId::ALL.get(storage).copied(),
            files: numbers[0],
            file_size: numbers[1],
            damage,
        }
    })
}

fn catalog() -> impl Strategy<Value = Catalog> {
    let content = prop_oneof![
        3 => summary().prop_map(|summary| Content::Bag(Arc::new(summary))),
        1 => "[a-z ]{0,9}".prop_map(Content::Unreadable),
    ];
    let entry =
        ("[0-9a-f]{4}", any::<bool>(), content).prop_map(|(identity, is_settled, content)| Entry {
            identity,
            is_settled,
            content,
        });
    let entries = proptest::collection::btree_map("[a-z/é ]{1,6}", entry, 0..6);
    entries.prop_map(|entries| Catalog { entries })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_table_is_read_as_it_was_written(catalog in catalog()) {
        let bytes = catalog.to_bytes().unwrap();
        prop_assert_eq!(Catalog::from_bytes(bytes).unwrap(), catalog);
    }

    #[test]
    fn other_bytes_are_the_same_table_or_an_error(
        catalog in catalog(), at in any::<prop::sample::Index>(), bit in 0..8_u32,
    ) {
        let mut bytes = catalog.to_bytes().unwrap().to_vec();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if let Ok(read) = Catalog::from_bytes(bytes.into()) {
            prop_assert_eq!(read, catalog);
        }
    }
}

#[test]
fn bags_share_their_topics() {
    let topics: Arc<[TopicInfo]> = vec![TopicInfo::new("/t", "std_msgs/msg/String")].into();
    let entry = |count: u64| Entry {
        identity: "x".into(),
        is_settled: true,
        content: Content::Bag(Arc::new(BagSummary {
            topics: topics.iter().cloned().collect(),
            message_counts: vec![count],
            statistics: vec![None],
            ..BagSummary::default()
        })),
    };
    let entries = (0..1000).map(|number| (format!("{number:04}"), entry(number)));
    let catalog = Catalog {
        entries: entries.collect(),
    };
    let bytes = catalog.to_bytes().unwrap();
    let read = Catalog::from_bytes(bytes).unwrap();
    assert_eq!(read, catalog);
    let pointers: std::collections::BTreeSet<_> = read
        .entries
        .values()
        .map(|entry| match &entry.content {
            Content::Bag(summary) => summary.topics.as_ptr(),
            Content::Unreadable(reason) => panic!("{reason}"),
        })
        .collect();
    assert_eq!(pointers.len(), 1);
}

#[test]
fn a_table_of_a_later_format_is_not_read() {
    let bytes = Catalog::default().to_bytes().unwrap().to_vec();
    let key = b"timeloom.catalog.format";
    let at = bytes.windows(key.len()).position(|it| it == key).unwrap();
    // In Thrift, a head and the length of the value are between them.
    let digit = at + key.len() + 2;
    assert_eq!(bytes[digit], b'1');
    let mut later = bytes;
    later[digit] = b'2';
    let error = Catalog::from_bytes(later.into()).unwrap_err();
    assert!(
        matches!(error, Error::Version { found: 2, known: 1 }),
        "{error}"
    );
}

/// More rows than a row group has; the bags of a fleet share their topics, some have others.
#[test]
fn shared_topics_are_the_same_in_every_row_group() {
    let topics = |count: u64| -> Arc<[TopicInfo]> {
        let names = (0..count).map(|number| format!("/{count}/{number}"));
        names.map(|name| TopicInfo::new(name, "a/msg/B")).collect()
    };
    let sets = [topics(17), topics(5), topics(0), topics(29)];
    let mut catalog = Catalog::default();
    for bag in 0..13_000_usize {
        let topics = Arc::clone(&sets[bag % 7 % sets.len()]);
        let summary = BagSummary {
            message_counts: (0..topics.len()).map(|it| (bag * it) as u64).collect(),
            statistics: vec![None; topics.len()],
            topics,
            ..BagSummary::default()
        };
        let entry = Entry {
            identity: bag.to_string(),
            is_settled: true,
            content: Content::Bag(Arc::new(summary)),
        };
        catalog.entries.insert(format!("run_{bag:05}"), entry);
    }
    let read = Catalog::from_bytes(catalog.to_bytes().unwrap()).unwrap();
    assert!(read == catalog);
}
