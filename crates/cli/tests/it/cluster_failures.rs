//! `timeloom query --cluster` when workers die, refuse or cannot be reached, and what `timeloom worker` refuses.

use std::io::Read as _;
use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;

use timeloom_query::{LocalBags, Worker, WorkerOptions};

use crate::cluster_world::{Cut, World, joined, proxies};
use crate::query::run;
use crate::support::Run;

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
    let unreachable = run(&world.sandbox, &format!("{query} --cluster {free}"));
    assert_eq!(
        (unreachable.code, unreachable.stdout.as_str()),
        (1, ""),
        "{unreachable}"
    );
    let error = format!("error: no worker can be reached: {free}: ");
    assert!(unreachable.stderr.contains(&error), "{unreachable}");
    assert!(
        unreachable.stderr.contains("hint: start `timeloom worker`"),
        "{unreachable}"
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
