//! `timeloom query --cluster` and `timeloom worker`: the answers of one process, from four workers.

use std::fs;
use std::io::Read as _;
use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use timeloom_query::{LocalBags, Worker, WorkerOptions};

use crate::cluster_world::{Cut, WorkerProcess, WorkerProxy, World};
use crate::docs::{prepare, steps};
use crate::query::run;
use crate::support::Run;

/// The bags of `docs/verbs/query.md`.
const BAGS: [&str; 5] = ["my_bag", "my_db", "cut_bag", "robot", "slower"];

fn joined<'a>(addresses: impl IntoIterator<Item = &'a String>) -> String {
    let addresses: Vec<&str> = addresses.into_iter().map(String::as_str).collect();
    addresses.join(",")
}

fn proxies(workers: &[WorkerProcess], cut: impl Fn(usize) -> Cut) -> Vec<WorkerProxy> {
    let workers = workers.iter().enumerate();
    workers.map(|(place, it)| it.behind(cut(place))).collect()
}

#[test]
fn every_query_of_the_page_answers_as_one_process_does() {
    let Some(world) = World::new() else {
        return;
    };
    prepare(&world.sandbox);
    BAGS.iter().for_each(|bag| world.put(bag));
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

/// Tables of all kinds, joins, unions, groups, sorts, windows and nested fields.
#[test]
fn all_tables_and_operators_answer_as_one_process_does() {
    let Some(world) = World::new() else {
        return;
    };
    prepare(&world.sandbox);
    BAGS.iter().for_each(|bag| world.put(bag));
    let copies = world.put_copies("mcap_plain", 6);
    let workers = world.workers(4);
    let proxies = proxies(&workers, |_| Cut::Never);
    let cluster = joined(proxies.iter().map(|it| &it.address));
    let robots = "s3://robots/robot s3://robots/slower s3://robots/my_bag s3://robots/my_db";
    for (sql, bags) in [
        (
            "SELECT bag, path, messages, damaged FROM bags ORDER BY bag",
            robots,
        ),
        (
            "SELECT topic, sum(messages) AS n FROM topics GROUP BY topic ORDER BY topic",
            robots,
        ),
        (
            "SELECT bag, topic, lost FROM losses ORDER BY bag, topic",
            robots,
        ),
        (
            "SELECT * FROM loss_times ORDER BY bag, topic, start_time",
            robots,
        ),
        ("SELECT * FROM host_clock ORDER BY bag, time", robots),
        (
            "SELECT * FROM parameters ORDER BY bag, node, name, time",
            robots,
        ),
        (
            "SELECT * FROM graph ORDER BY bag, node, role, topic, gid",
            robots,
        ),
        (
            "SELECT * FROM publishers ORDER BY bag, topic, from_time",
            robots,
        ),
        (
            "SELECT * FROM lineage ORDER BY bag, log_time, topic, input_topic, input_stamp",
            robots,
        ),
        (
            "SELECT bag, path, count(*) AS n, max(latency_ms) AS most FROM latency GROUP BY bag, path ORDER BY bag, path",
            robots,
        ),
        (
            "SELECT bag, topic, type, count(*) AS n, sum(size) AS bytes, max(sequence) AS last FROM messages GROUP BY bag, topic, type ORDER BY bag, topic",
            copies.as_str(),
        ),
        ("SELECT * FROM \"/imu/data\"", &copies),
        (
            "SELECT bag, header.stamp, orientation.w, angular_velocity_covariance FROM \"/imu/data\" WHERE linear_acceleration.z > 9.8",
            &copies,
        ),
        (
            "SELECT bag, t.header.frame_id, count(*) AS n FROM (SELECT bag, unnest(transforms) AS t FROM \"/tf\") GROUP BY bag, t.header.frame_id ORDER BY bag",
            &copies,
        ),
        (
            "SELECT i.bag, count(*) AS n FROM \"/imu/data\" i JOIN \"/fix\" f ON i.bag = f.bag AND i.log_time < f.log_time GROUP BY i.bag ORDER BY i.bag",
            &copies,
        ),
        (
            "SELECT t.type, count(*) AS n FROM messages m JOIN topics t ON m.bag = t.bag AND m.topic = t.topic GROUP BY t.type ORDER BY n DESC, t.type",
            &copies,
        ),
        (
            "SELECT count(*) AS n FROM (SELECT log_time FROM \"/fix\" UNION ALL SELECT log_time FROM \"/imu/data\")",
            &copies,
        ),
        (
            "SELECT bag, log_time, row_number() OVER (PARTITION BY bag ORDER BY log_time) AS n FROM \"/fix\" ORDER BY bag, log_time",
            &copies,
        ),
        ("SELECT count(*) AS n FROM \"/imu/data\"", &copies),
        (
            "SELECT bag FROM \"/fix\" WHERE altitude > (SELECT avg(altitude) FROM \"/fix\") ORDER BY bag, log_time",
            &copies,
        ),
        (
            "SELECT DISTINCT frame_id FROM (SELECT header.frame_id AS frame_id FROM \"/scan\")",
            &copies,
        ),
        (
            "SELECT bag, altitude FROM \"/fix\" ORDER BY altitude DESC, bag LIMIT 5",
            &copies,
        ),
        ("SELECT bag FROM messages LIMIT 3", &copies),
        (
            "SELECT bag, log_time FROM \"/fix\" WHERE bag = $$run_3$$ AND log_time > $$2026-11-15T08:58:53Z$$",
            &copies,
        ),
    ] {
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
fn a_worker_that_dies_with_its_plan_is_replaced() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 8);
    let sql = "SELECT bag, count(orientation.x) AS n, avg(linear_acceleration.z) AS z FROM \"/imu/data\" GROUP BY bag ORDER BY bag";
    let query = format!("query '{sql}' {bags} --format csv");
    let alone = run(&world.sandbox, &query);
    assert_eq!(alone.code, 0, "{alone}");
    let workers = world.workers(4);
    let cut = |place| {
        if place == 2 {
            Cut::AfterAsked(3_000)
        } else {
            Cut::Never
        }
    };
    let proxies = proxies(&workers, cut);
    let cluster = joined(proxies.iter().map(|it| &it.address));
    let together = run(&world.sandbox, &format!("{query} --cluster {cluster}"));
    assert!(proxies[2].has_cut(), "the worker was killed");
    assert_eq!(
        (together.code, &together.stdout),
        (0, &alone.stdout),
        "{together}"
    );
    let left_out = format!(
        "worker {} does not answer and is left out",
        proxies[2].address
    );
    assert!(together.stderr.contains(&left_out), "{together}");
}

#[test]
fn a_worker_that_dies_after_its_first_rows_is_replaced_without_a_row_twice() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 8);
    let query = format!("query 'SELECT * FROM \"/imu/data\"' {bags} --format json");
    let alone = run(&world.sandbox, &query);
    assert_eq!(alone.code, 0, "{alone}");
    for killed in [0, 3] {
        let workers = world.workers(4);
        let cut = |place| {
            let cuts = place == killed;
            if cuts {
                Cut::AfterAnswered(20_000)
            } else {
                Cut::Never
            }
        };
        let proxies = proxies(&workers, cut);
        let cluster = joined(proxies.iter().map(|it| &it.address));
        let together = run(&world.sandbox, &format!("{query} --cluster {cluster}"));
        assert!(proxies[killed].has_cut(), "the worker was killed");
        assert_eq!(together.code, 0, "{}", together.stderr);
        assert!(together.stdout == alone.stdout, "worker {killed}");
    }
}

/// Rows of a union have no order: a second run could give others first.
#[test]
fn a_worker_that_dies_while_unordered_rows_are_out_fails_the_query_with_its_address() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 8);
    let workers = world.workers(4);
    let cut = |place| {
        let cuts = place == 1;
        if cuts {
            Cut::AfterAnsweredAndTold(20_000)
        } else {
            Cut::Never
        }
    };
    let proxies = proxies(&workers, cut);
    let cluster = joined(proxies.iter().map(|it| &it.address));
    let sql = "SELECT * FROM \"/imu/data\" UNION ALL SELECT * FROM \"/imu/data\"";
    let mut command = world.sandbox.command("query");
    command.arg(sql).args(bags.split(' '));
    command.args(["--format", "json", "--cluster", &cluster]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut asker = command.spawn().unwrap();
    // A byte of a row: the others follow below.
    let mut first = [0];
    let out = asker.stdout.as_mut().unwrap();
    out.read_exact(&mut first).unwrap();
    proxies[1].go_on();
    let failed = Run::new(&asker.wait_with_output().unwrap());
    assert!(proxies[1].has_cut(), "the worker was killed");
    assert_eq!(failed.code, 1, "{}", failed.stderr);
    let lost = format!("lost worker {}", proxies[1].address);
    assert!(failed.stderr.contains(&lost), "{}", failed.stderr);
    assert!(
        failed.stderr.contains("cannot go on without it"),
        "{}",
        failed.stderr
    );
    assert!(
        failed.stderr.contains("hint: start the query again"),
        "{}",
        failed.stderr
    );
}

#[test]
fn when_all_workers_die_the_query_fails_and_leaves_no_file() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 4);
    let workers = world.workers(2);
    let proxies = proxies(&workers, |_| Cut::AfterAsked(3_000));
    let cluster = joined(proxies.iter().map(|it| &it.address));
    let query =
        format!("query 'SELECT * FROM \"/imu/data\"' {bags} -o rows.csv --cluster {cluster}");
    let failed = run(&world.sandbox, &query);
    assert_eq!(failed.code, 1, "{failed}");
    assert!(
        failed.stderr.contains("no worker can be reached"),
        "{failed}"
    );
    for proxy in &proxies {
        assert!(failed.stderr.contains(&proxy.address), "{failed}");
    }
    assert!(!world.sandbox.path("rows.csv").exists());
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

/// Texts of which some are cut off.
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
fn a_worker_that_cannot_be_reached_is_left_out_and_named() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 4);
    let workers = world.workers(2);
    // A port that was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap();
    let free = free.to_string();
    let query = format!(
        "query 'SELECT bag, count(orientation.x) AS n FROM \"/imu/data\" GROUP BY bag ORDER BY bag' {bags}"
    );
    let cluster = joined([&workers[0].address, &free, &workers[1].address]);
    let (alone, together) = world.both(&query, &cluster);
    assert_eq!(
        (together.code, &together.stdout),
        (0, &alone.stdout),
        "{together}"
    );
    let warning = format!("warning: worker {free} does not answer and is left out");
    assert!(together.stderr.contains(&warning), "{together}");
    let nobody = run(&world.sandbox, &format!("{query} --cluster {free}"));
    assert_eq!((nobody.code, nobody.stdout.as_str()), (1, ""), "{nobody}");
    let error = format!("error: no worker can be reached: {free}: ");
    assert!(nobody.stderr.contains(&error), "{nobody}");
    assert!(
        nobody.stderr.contains("hint: start `timeloom worker`"),
        "{nobody}"
    );
}

#[test]
fn a_wrong_secret_and_none_are_refused() {
    let Some(mut world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 1);
    let workers = world.workers(1);
    world
        .sandbox
        .write("wrong", "fedcba9876543210fedcba9876543210\n");
    let query = format!("query 'SELECT 1' {bags} --cluster {}", workers[0].address);
    let wrong = run(&world.sandbox, &format!("{query} --secret-file wrong"));
    assert_eq!((wrong.code, wrong.stdout.as_str()), (1, ""), "{wrong}");
    let refused = format!(
        "error: worker {} refused: the secret is not",
        workers[0].address
    );
    assert!(wrong.stderr.contains(&refused), "{wrong}");
    assert!(
        wrong.stderr.contains("hint: the query and all workers"),
        "{wrong}"
    );
    world.sandbox.set("TIMELOOM_SECRET", "");
    let none = run(&world.sandbox, &query);
    assert_eq!(none.code, 1, "{none}");
    assert!(none.stderr.contains("none was given"), "{none}");
    world.sandbox.write("short", "abc");
    let short = run(&world.sandbox, &format!("{query} --secret-file short"));
    assert_eq!(short.code, 2, "{short}");
    assert!(short.stderr.contains("at least 16"), "{short}");
    assert!(!short.stderr.contains("abc\n"), "{short}");
}

#[test]
fn a_worker_of_another_version_is_refused() {
    let Some(world) = World::new() else {
        return;
    };
    let bags = world.put_copies("mcap_plain", 1);
    let options = WorkerOptions {
        listen: ([127, 0, 0, 1], 0).into(),
        version: "9.9.9".into(),
        ..WorkerOptions::default()
    };
    let worker = Worker::start(Arc::new(LocalBags), options).unwrap();
    let address = worker.address();
    let query = format!("query 'SELECT 1' {bags} --cluster {address}");
    let refused = run(&world.sandbox, &query);
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (1, ""),
        "{refused}"
    );
    let text = format!(
        "error: worker {address} refused: the worker runs timeloom 9.9.9, the asker timeloom {}",
        env!("CARGO_PKG_VERSION")
    );
    assert!(refused.stderr.contains(&text), "{refused}");
    assert!(
        refused.stderr.contains("hint: install the same version"),
        "{refused}"
    );
}

#[test]
fn a_worker_listens_elsewhere_only_with_a_secret_and_ends_with_ctrl_c() {
    let mut sandbox = crate::support::Sandbox::new();
    let open = run(&sandbox, "worker --listen 0.0.0.0:0");
    assert_eq!((open.code, open.stdout.as_str()), (2, ""), "{open}");
    assert!(open.stderr.contains("without a secret"), "{open}");
    assert!(open.stderr.contains("hint: give it a secret"), "{open}");
    let missing = run(&sandbox, "worker --secret-file nowhere");
    assert_eq!(missing.code, 1, "{missing}");
    assert!(missing.stderr.contains("nowhere"), "{missing}");
    sandbox.set("TIMELOOM_SECRET", crate::cluster_world::SECRET);
    let mut command = sandbox.command("worker --listen 127.0.0.1:0");
    command.stdout(Stdio::piped());
    let mut worker = command.spawn().unwrap();
    let mut line = String::new();
    let mut output = std::io::BufReader::new(worker.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut output, &mut line).unwrap();
    assert!(line.contains("for queries that have the secret"), "{line}");
    assert!(!line.contains(crate::cluster_world::SECRET), "{line}");
    let sent = std::process::Command::new("kill")
        .args(["-INT", &worker.id().to_string()])
        .status();
    assert!(sent.unwrap().success());
    assert_eq!(worker.wait().unwrap().code(), Some(0));
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
