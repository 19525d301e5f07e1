//! Bags on object storage and web servers.

use std::fs;
use std::path::Path;

use crate::docs::{matches, steps};
use crate::remote_server::{Change, Manners, Server};
use crate::s3::S3;
use crate::support::{Sandbox, bags, stored};
use crate::trace_bag;

#[test]
fn golden_bags_on_s3_print_the_same_as_local_ones() {
    let Some(s3) = S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    let mut count = 0;
    for entry in fs::read_dir(bags()).unwrap() {
        let bag = entry.unwrap().path();
        if !bag.join("metadata.yaml").is_file() {
            continue;
        }
        let name = bag.file_name().unwrap().to_str().unwrap();
        s3.put_folder(&format!("robots/runs/{name}"), &bag);
        for arguments in [
            "info -v",
            "info --format json",
            "cat",
            "cat --raw --reverse -n 20",
        ] {
            let here = sandbox.run(&format!("{arguments} BAGS/{name}"));
            let there = sandbox.run(&format!("{arguments} s3://robots/runs/{name}"));
            assert_eq!(there.code, here.code, "{arguments} {name}\n{there}");
            assert!(there.stdout == here.stdout, "{arguments} {name}");
        }
        count += 1;
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn a_bag_on_s3_is_cut_out_and_traced() {
    let Some(s3) = S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    s3.put_folder("robots/runs/plain", &bags().join("mcap_plain"));
    sandbox.ok("convert s3://robots/runs/plain -o whole");
    assert_eq!(
        stored(&sandbox.path("whole")),
        stored(&bags().join("mcap_plain"))
    );
    sandbox.ok("convert s3://robots/runs/plain BAGS/sqlite3_plain -o both --topics /chatter");
    let robot = trace_bag::Robot::default();
    robot.record(&sandbox.path("robot"));
    s3.put_folder("robots/runs/robot", &sandbox.path("robot"));
    let here = sandbox.ok("trace report robot --format json");
    let there = sandbox.ok("trace report s3://robots/runs/robot --format json");
    assert_eq!(there, here);
}

#[test]
fn a_folder_without_metadata_is_read_with_a_warning() {
    let Some(s3) = S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    let file = bags().join("mcap_plain/mcap_plain_0.mcap");
    s3.put("robots/bare/mcap_plain_0.mcap", &fs::read(file).unwrap());
    for bag in ["s3://robots/bare", "s3://robots/bare/"] {
        let run = sandbox.run(&format!("cat {bag} --topics /chatter"));
        assert_eq!(run.code, 0, "{run}");
        assert_eq!(run.stdout.lines().count(), 42, "{run}");
        assert!(
            run.stderr.contains("warning: metadata.yaml is missing"),
            "{run}"
        );
    }
    let run = sandbox.run("info s3://robots/bare");
    assert!(
        run.stderr.contains("hint: copy the bag to this machine"),
        "{run}"
    );
}

#[test]
fn errors_of_s3_have_hints() {
    let Some(s3) = S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    insta::assert_snapshot!(sandbox.run("info s3://robots/none"), @"
    exit code: 1
    ----- stderr
    error: s3://robots/none: not found (404)

    hint: check the address: a bag is a folder with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("cat s3://nobody/none.mcap"), @"
    exit code: 1
    ----- stderr
    error: s3://nobody/none.mcap: not found (404)

    hint: check the address: a bag is a folder with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("info s3://robots/a//b"), @"
    exit code: 1
    ----- stderr
    error: s3://robots/a//b: a part of the path is empty, `.`, `..` or not UTF-8
    ");
    // Half of a pair of keys; without the second variable, the cloud would be asked for credentials.
    let mut sandbox = Sandbox::new();
    sandbox.set("AWS_SECRET_ACCESS_KEY", "secret");
    sandbox.set("AWS_SKIP_SIGNATURE", "false");
    insta::assert_snapshot!(sandbox.run("info s3://robots/none"), @r#"
    exit code: 1
    ----- stderr
    error: s3://robots/none: no credentials for S3

    hint: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a public bucket; of a profile: `eval "$(aws configure export-credentials --format env)"`
    "#);
}

#[test]
fn nothing_is_written_to_an_address() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o s3://robots/copy"), @"
    exit code: 2
    ----- stderr
    error: s3://robots/copy: bags are only written to this machine

    hint: write a directory here, then send it there with `timeloom upload`
    ");
    for arguments in [
        "reindex s3://robots/x",
        "recover s3://robots/x",
        "record -a -o gs://robots/x",
    ] {
        let run = sandbox.run(arguments);
        assert_eq!(run.code, 2, "{arguments}\n{run}");
        assert!(
            run.stderr.contains("only written to this machine"),
            "{arguments}\n{run}"
        );
    }
}

#[test]
fn a_bag_on_a_web_server_is_read_and_a_refusal_is_explained() {
    let server = Server::new();
    let sandbox = Sandbox::new();
    sandbox.ok("convert BAGS/mcap_plain -o bag");
    server.put_folder("bag", &sandbox.path("bag"));
    let here = sandbox.ok("cat bag --topics /chatter -n 3");
    assert_eq!(
        sandbox.ok(&format!("cat {} --topics /chatter -n 3", server.url("bag"))),
        here
    );
    server.behave(Manners {
        failures: (u32::MAX, 403),
        ..Manners::default()
    });
    let run = sandbox.run(&format!("info {}", server.url("bag/bag_0.mcap")));
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("bag_0.mcap: access denied (403)"),
        "{run}"
    );
    assert!(
        run.stderr.contains("hint: the server requires a password"),
        "{run}"
    );
}

#[test]
fn a_bag_that_changes_while_it_is_read_is_a_failure_not_a_loss() {
    let server = Server::new();
    let sandbox = Sandbox::new();
    // The copy is not finished.
    sandbox.unchecked();
    server.put_folder("bag", &bags().join("mcap_plain"));
    // As many requests as it takes to open the bag.
    sandbox.ok(&format!("info {}", server.url("bag")));
    let opening = server.requests().len();
    for verb in ["cat", "convert -o copy"] {
        server.behave(Manners {
            changes: Some((opening, Change::Tag)),
            ..Manners::default()
        });
        let run = sandbox.run(&format!("{verb} {}", server.url("bag")));
        assert_eq!(run.code, 1, "{run}");
        assert!(
            run.stderr.contains("the file changed while it was read"),
            "{run}"
        );
        assert!(
            run.stderr
                .contains("hint: it was modified while it was read"),
            "{run}"
        );
    }
}

#[test]
fn the_commands_of_the_guide_print_the_shown_output() {
    let Some(s3) = S3::new() else {
        return;
    };
    let sandbox = s3.sandbox();
    s3.put_folder("robots/monday/run_7", &bags().join("mcap_plain"));
    s3.put_folder("robots/monday/old_run", &bags().join("sqlite3_plain"));
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/remote.md");
    let steps = steps(&fs::read_to_string(page).unwrap());
    assert!(steps.len() >= 5, "{}", steps.len());
    for step in steps {
        let run = sandbox.run(&step.arguments);
        let real = run.stdout.clone() + &run.stderr;
        let real = real.replace(&std::env::temp_dir().display().to_string(), "/tmp");
        let lines: Vec<&str> = real.lines().collect();
        assert!(
            matches(&step.output, &lines),
            "timeloom {}\n{run}",
            step.arguments
        );
    }
}
