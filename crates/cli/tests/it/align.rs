//! `timeloom align`: values of topics at the times of another topic.

use crate::support::Sandbox;
use crate::tables::script;

#[test]
fn aligned_rows_match_a_search_in_all_messages() {
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/mcap_plain -o n.ndjson --format ndjson");
    let words = "align BAGS/mcap_plain --to /camera/image_raw --topics /imu/data";
    let (mut files, mut counts) = (Vec::new(), Vec::new());
    for method in ["nearest", "previous", "interpolate"] {
        for (tolerance, nanos) in [("", "any"), ("--tolerance 5ms", "5000000")] {
            for by in ["log", "publish", "header"] {
                let name = format!("{method},{nanos},{by}");
                let file = format!("{name}.parquet");
                let flags = format!("--method {method} {tolerance} --by {by} -o {file}");
                let run = sandbox.run(&format!("{words} {flags}"));
                assert_eq!(run.code, 0, "{run}");
                let rest = run.stderr.split_once("; /imu/data ");
                counts.push(rest.unwrap().1.trim().to_owned());
                files.push(name);
            }
        }
    }
    let arguments = ["aligned", "n.ndjson", "/camera/image_raw"];
    let files = files.iter().map(String::as_str);
    let arguments: Vec<&str> = arguments.into_iter().chain(files).collect();
    let Some(found) = script(&sandbox, &arguments) else {
        return;
    };
    let found: Vec<String> = found
        .lines()
        .map(|count| match count {
            "0" => "all matched".to_owned(),
            count => format!("{count} without a partner"),
        })
        .collect();
    assert_eq!(found, counts);
    assert!(found.iter().any(|text| text != "all matched"), "{found:?}");
}

#[test]
fn times_by_sync_are_those_of_sync_retime() {
    let sandbox = Sandbox::new();
    crate::sync_bags::lidar_bag(&sandbox, "bag");
    sandbox.ok("sync retime bag -o better --topic /scan");
    let words = "--to /scan --topics /scan:header --format csv";
    let sync = sandbox.run(&format!("align bag {words} --by sync"));
    assert_eq!(sync.code, 0, "{sync}");
    let header = sandbox.ok(&format!("align better {words} --by header"));
    let times = |csv: &str| -> Vec<String> {
        let times = csv
            .lines()
            .map(|line| line.split(',').next().unwrap().to_owned());
        times.collect()
    };
    assert_eq!(times(&sync.stdout), times(&header));
    let plain = sandbox.ok(&format!("align bag {words} --by header"));
    assert_ne!(
        times(&plain),
        times(&header),
        "the correction changes the times"
    );
}

#[test]
fn a_damaged_bag_is_aligned_as_far_as_it_can_be_read() {
    let sandbox = Sandbox::new();
    crate::docs::prepare(&sandbox);
    let run = sandbox
        .run("align cut_bag --to /fix --topics /imu/data:linear_acceleration.z --format csv");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stdout.lines().count() > 1, "{run}");
    assert!(run.stderr.contains("hint: run `timeloom recover"), "{run}");
}

#[test]
fn the_slice_of_align_limits_the_rows_and_not_their_partners() {
    let sandbox = Sandbox::new();
    let words = "align BAGS/mcap_plain --to /imu/data --topics /fix:altitude --method previous --format csv";
    let all = sandbox.ok(words);
    let cut = sandbox.ok(&format!("{words} --start +1500ms --end +2s"));
    assert!(cut.lines().count() > 10, "{cut}");
    assert!(
        cut.lines().all(|line| all.lines().any(|one| one == line)),
        "{cut}"
    );
}
