//! RIHS01 of the built-in definitions against the hashes of the real ROS and of another implementation.

use timeloom_msg::{Definitions, Distro, TypeName};

/// Lines of a table without its comments, as words.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
}

#[test]
fn real_hashes_of_wire_and_bags() {
    let mut unknown = Vec::new();
    let mut wrong = Vec::new();
    for row in rows(include_str!("../data/hashes/real.txt")) {
        let [name, hash] = row[..] else {
            panic!("{row:?}")
        };
        let hash = hash.parse().unwrap();
        if Definitions::builtin_with_hash(name, &hash)
            .unwrap()
            .is_some()
        {
            continue;
        }
        match Definitions::builtin().get(&TypeName::parse(name).unwrap()) {
            Some(_) => wrong.push(name),
            None => unknown.push(name),
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
    // The test messages of rosbag2 are not built in; their hashes are checked from the bags that hold them.
    assert_eq!(
        unknown,
        ["test_msgs/msg/Strings", "test_msgs/srv/BasicTypes_Event"]
    );
}

/// Checks rows of distribution, type and hash; returns the number of equal ones.
fn check(text: &str) -> usize {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in rows(text) {
        let [distro, name, hash] = row[..] else {
            panic!("{row:?}")
        };
        let distro: Distro = distro.parse().unwrap();
        let ours = Definitions::builtin_of(distro)
            .schema(name)
            .and_then(|schema| schema.type_hash());
        match ours {
            Ok(ours) if ours.to_string() == hash => checked += 1,
            other => wrong.push(format!("{} {name} {other:?}", distro.as_str())),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    checked
}

#[test]
fn hashes_of_rosbags_for_every_distribution() {
    assert_eq!(check(include_str!("../data/hashes/rosbags.txt")), 627);
}

#[test]
fn published_hashes_of_services_and_actions() {
    assert_eq!(check(include_str!("../data/hashes/published.txt")), 56);
}
