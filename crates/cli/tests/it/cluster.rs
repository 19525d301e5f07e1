//! `timeloom query --cluster` and `timeloom worker`: the answers of one process, from four workers.

use std::fs;
use std::path::Path;

use crate::cluster_world::{Cut, World, joined, proxies};
use crate::docs::{prepare, steps};
use crate::query::run;

/// The bags of `docs/verbs/query.md`.
const BAGS: [&str; 5] = ["my_bag", "my_db", "cut_bag", "robot", "slower"];

#[test]
fn every_query_of_the_page_answers_as_one_process_does() {
    let Some(world) = World::new() else {
        return;
    };
    prepare(&world.sandbox);
    for bag in BAGS {
        world.put(bag);
    }
    let workers = world.workers(4);
    let cluster = joined(workers.iter().map(|it| &it.address));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/verbs/query.md");
    let mut count = 0;
    for step in steps(&fs::read_to_string(page).unwrap()) {
        let words = step.arguments.split(' ').map(|word| {
            let bag = BAGS.contains(&word);
            if bag {
                format!("s3://robots/{word}")
            } else {
                word.to_owned()
            }
        });
        let words = words.collect::<Vec<_>>().join(" ");
        if let Some((query, _)) = words.split_once(" -o ") {
            let alone = run(&world.sandbox, &format!("{query} -o alone.csv"));
            let together = format!("{query} -o together.csv --cluster {cluster}");
            let together = run(&world.sandbox, &together);
            assert_eq!((alone.code, together.code), (0, 0), "{alone}\n{together}");
            let file = |name| fs::read_to_string(world.sandbox.path(name)).unwrap();
            assert!(file("alone.csv") == file("together.csv"), "{words}");
        } else {
            let (alone, together) = world.both(&words, &cluster);
            assert_eq!(together.to_string(), alone.to_string(), "{words}");
        }
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

/// Queries over bags of several robots.
const OF_ROBOTS: [&str; 10] = [
    "SELECT bag, path, messages, damaged FROM bags ORDER BY bag",
    "SELECT topic, sum(messages) AS n FROM topics GROUP BY topic ORDER BY topic",
    "SELECT bag, topic, lost FROM losses ORDER BY bag, topic",
    "SELECT * FROM loss_times ORDER BY bag, topic, start_time",
    "SELECT * FROM host_clock ORDER BY bag, time",
    "SELECT * FROM parameters ORDER BY bag, node, name, time",
    "SELECT * FROM graph ORDER BY bag, node, role, topic, gid",
    "SELECT * FROM publishers ORDER BY bag, topic, from_time",
    "SELECT * FROM lineage ORDER BY bag, log_time, topic, input_topic, input_stamp",
    "SELECT bag, path, count(*) AS n, max(latency_ms) AS most FROM latency GROUP BY bag, path ORDER BY bag, path",
];

/// Queries over six bags of the same robot.
const OF_COPIES: [&str; 14] = [
    "SELECT bag, topic, type, count(*) AS n, sum(size) AS bytes, max(sequence) AS last FROM messages GROUP BY bag, topic, type ORDER BY bag, topic",
    "SELECT * FROM \"/imu/data\"",
    "SELECT bag, header.stamp, orientation.w, angular_velocity_covariance FROM \"/imu/data\" WHERE linear_acceleration.z > 9.8",
    "SELECT bag, t.header.frame_id, count(*) AS n FROM (SELECT bag, unnest(transforms) AS t FROM \"/tf\") GROUP BY bag, t.header.frame_id ORDER BY bag",
    "SELECT i.bag, count(*) AS n FROM \"/imu/data\" i JOIN \"/fix\" f ON i.bag = f.bag AND i.log_time < f.log_time GROUP BY i.bag ORDER BY i.bag",
    "SELECT t.type, count(*) AS n FROM messages m JOIN topics t ON m.bag = t.bag AND m.topic = t.topic GROUP BY t.type ORDER BY n DESC, t.type",
    "SELECT count(*) AS n FROM (SELECT log_time FROM \"/fix\" UNION ALL SELECT log_time FROM \"/imu/data\")",
    "SELECT bag, log_time, row_number() OVER (PARTITION BY bag ORDER BY log_time) AS n FROM \"/fix\" ORDER BY bag, log_time",
    "SELECT count(*) AS n FROM \"/imu/data\"",
    "SELECT bag FROM \"/fix\" WHERE altitude > (SELECT avg(altitude) FROM \"/fix\") ORDER BY bag, log_time",
    "SELECT DISTINCT frame_id FROM (SELECT header.frame_id AS frame_id FROM \"/scan\")",
    "SELECT bag, altitude FROM \"/fix\" ORDER BY altitude DESC, bag LIMIT 5",
    "SELECT bag FROM messages LIMIT 3",
    "SELECT bag, log_time FROM \"/fix\" WHERE bag = $$run_3$$ AND log_time > $$2026-11-15T08:58:53Z$$",
];

/// Tables of all kinds, joins, unions, groups, sorts, windows and nested fields.
#[test]
fn all_tables_and_operators_answer_as_one_process_does() {
    let Some(world) = World::new() else {
        return;
    };
    prepare(&world.sandbox);
    for bag in BAGS {
        world.put(bag);
    }
    let copies = world.put_copies("mcap_plain", 6);
    let workers = world.workers(4);
    let proxies = proxies(&workers, |_| Cut::Never);
    let cluster = joined(proxies.iter().map(|it| &it.address));
    let robots = "s3://robots/robot s3://robots/slower s3://robots/my_bag s3://robots/my_db";
    let of_robots = OF_ROBOTS.iter().map(|sql| (sql, robots));
    for (sql, bags) in of_robots.chain(OF_COPIES.iter().map(|sql| (sql, copies.as_str()))) {
        let query = format!("query '{sql}' {bags} --format json");
        let (alone, together) = world.both(&query, &cluster);
        assert_eq!(alone.code, 0, "{sql}\n{alone}");
        assert!(
            together.to_string() == alone.to_string(),
            "{sql}\n{alone}\n{together}"
        );
    }
    for proxy in &proxies {
        assert!(proxy.answered() > 10_000, "each worker has answered");
    }
}

#[test]
fn damage_and_undecodable_messages_of_workers_are_exit_code_3_with_the_same_counts() {
    let Some(world) = World::new() else {
        return;
    };
    prepare(&world.sandbox);
    for name in ["cut_bag", "my_bag", "my_db", "robot"] {
        world.put(name);
    }
    undecodable(&world.sandbox.path("broken"));
    world.put("broken");
    let workers = world.workers(4);
    let cluster = joined(workers.iter().map(|it| &it.address));
    let bags = "s3://robots/cut_bag s3://robots/broken s3://robots/my_bag s3://robots/my_db s3://robots/robot";
    for sql in [
        "SELECT bag, topic, count(*) AS n FROM messages WHERE size > 1 GROUP BY bag, topic ORDER BY bag, topic",
        "SELECT bag, count(data) AS n, count(*) AS all_of_them FROM \"/chatter\" GROUP BY bag ORDER BY bag",
        "SELECT bag, data FROM \"/chatter\"",
        "SELECT bag, count(*) AS n FROM lineage GROUP BY bag ORDER BY bag",
    ] {
        let query = format!("query '{sql}' {bags} --format csv");
        let (alone, together) = world.both(&query, &cluster);
        assert_eq!(alone.code, 3, "{alone}");
        assert_eq!(together.to_string(), alone.to_string(), "{sql}");
    }
    let query = format!("query 'SELECT bag, data FROM \"/chatter\"' {bags} --cluster {cluster}");
    let run = run(&world.sandbox, &query);
    assert!(
        run.stderr
            .contains("broken: 3 messages of /chatter could not be decoded"),
        "{run}"
    );
}

/// Writes a bag with strings that are cut off.
fn undecodable(path: &Path) {
    use timeloom_bag::{BagOptions, BagWriter, Message, MessageDefinition, TopicInfo};
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo {
        definition: MessageDefinition {
            encoding: "ros2msg".into(),
            text: "string data\n".into(),
        },
        ..TopicInfo::new("/chatter", "std_msgs/msg/String")
    };
    let topic = writer.add_topic(&topic).unwrap();
    for time in 0..10_i64 {
        let whole = [0, 1, 0, 0, 3, 0, 0, 0, b'h', b'i', 0];
        let data = if time % 3 == 1 {
            &whole[..9]
        } else {
            &whole[..]
        };
        let message = Message {
            topic,
            log_time_ns: time,
            publish_time_ns: time,
            sequence: 0,
            data,
        };
        assert!(writer.write(&[message], time).error.is_none());
    }
    let (_, outcome) = writer.finish().unwrap();
    assert!(outcome.error.is_none());
}

#[test]
fn paths_of_this_machine_and_wrong_addresses_are_wrong_usage() {
    let sandbox = crate::support::Sandbox::new();
    sandbox.copy("mcap_plain", "my_bag");
    let local = run(&sandbox, "query 'SELECT 1' my_bag --cluster 127.0.0.1:1");
    assert_eq!((local.code, local.stdout.as_str()), (2, ""), "{local}");
    assert!(
        local.stderr.contains("my_bag is a path of this machine"),
        "{local}"
    );
    assert!(local.stderr.contains("hint: put bags where"), "{local}");
    let wrong = run(&sandbox, "query 'SELECT 1' s3://b/bag --cluster http://a/b");
    assert_eq!(wrong.code, 2, "{wrong}");
    assert!(wrong.stderr.contains("no address of a worker"), "{wrong}");
}
