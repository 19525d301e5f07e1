//! Help, version, completions, colours.

use crate::support::Sandbox;

#[test]
fn help_goes_to_stdout() {
    let sandbox = Sandbox::new();
    let run = sandbox.run("--help").to_string();
    let (verbs, rest) = run.split_once("\nOptions:\n").unwrap();
    insta::assert_snapshot!(verbs, @"
    exit code: 0
    ----- stdout
    Time for ROS 2: record, replay, synchronise and trace a robot's messages, without a ROS installation

    Usage: timeloom [OPTIONS] <COMMAND>

    Commands:
      record       Record the topics, services and actions of a running robot into a bag
      play         Publish the messages of bags at their times; pause, step, seek, loop and change the
                   rate
      burst        Publish messages at once, without waiting for their time
      fleet        Control and show all recorders of a fleet: status, start, stop, pause, resume, split,
                   snapshot
      view         Show bags and running robots in a browser, in Foxglove and its relatives
      info         Show what a bag holds, without reading its messages
      cat          Print messages as JSON, with filters and limits
      query        Query many bags with SQL: topics are tables, fields are columns
      index        Keep a catalogue of many bags, so that queries open only those that can match
      worker       Read bags and compute for `timeloom query --cluster`, until Ctrl-C
      align        Put the values of topics at the times of another topic into one table
      convert      Rewrite bags: slice, filter, rename, split, compress, merge, change the storage;
                   export to CSV, JSON lines, Parquet and Arrow
      merge        Merge bags of several hosts into one and estimate the offsets between their clocks
      diff         Compare two bags: topics, types, QoS, counts, losses, and messages field by field
      check        Check a bag or a running robot against a contract: topics, types, QoS, rates, gaps,
                   stamps, values, losses, clock; learn one
      replay-test  Test a node with a bag: play it in lockstep, record the outputs, compare them with an
                   expected bag
      upload       Upload bags to object storage: resumed after a cut, compared by hash, deleted here
                   only if asked
      reindex      Rebuild metadata.yaml from the files of a bag
      recover      Rescue the messages of a damaged bag: cut files, missing summaries, broken metadata
      trace        Lineage of messages: which inputs made an output, how late, what broke: live, report,
                   path, check, diff, export
      sync         Relate a sensor's clock to the host's: fit, calibrate, convert, retime, simulate,
                   watch, relay, pf, pf-device
      clock        Show, publish and control /clock: echo, publish, lag, drive
      topic        Look at the topics of a running robot, and publish: list, info, echo, hz, bw, pub
      node         Look at the nodes of a running robot: list, info
      service      Look at the services of a running robot, and call them: list, call
      doctor       Check this machine, a bag or the network for problems: bag, net
      list         List storages, compressors and known interfaces
      completions  Print the tab completion of a shell
      manual       Write the man pages of all verbs into a directory
      help         Print this message or the help of the given subcommand(s)

    ");
    options_and_examples(rest);
}

fn options_and_examples(rest: &str) {
    insta::assert_snapshot!(rest, @"
          --color <WHEN>
              When to use colours on stderr

              Possible values:
              - auto:   On a terminal, unless `NO_COLOR` is set
              - always: Always
              - never:  Never
              
              [default: auto]

      -h, --help
              Print help (see a summary with '-h')

      -V, --version
              Print version

    EXAMPLES
      timeloom record -a                                    record all topics
      timeloom play my_bag --clock                          at its times; SPACE pauses, arrows step
      timeloom view my_bag --open                           in the browser, and in Foxglove
      timeloom info my_bag -v                               what is in it, and what was lost
      timeloom cat my_bag --topics /imu/data -n 1           one message as JSON
      timeloom convert my_bag -o cut --start +10s --end +20s
      timeloom merge car arm -o both --correct              bags of several hosts on one timeline
      timeloom diff before after                            two bags, message by message
      timeloom check my_bag contract.yaml                   check a recording against a contract
      timeloom replay-test plan.yaml                        compare the outputs of a node with a bag
      timeloom recover my_bag                               after a crash or a power cut
      timeloom trace report my_bag                          which inputs made this output, and how late
      timeloom sync fit samples.csv                         a sensor's clock against the host's
      timeloom topic echo /odom                             a running robot's messages as JSON
      timeloom doctor net                                   why two nodes do not communicate

    EXIT CODES
      0 done   1 failed   2 wrong usage   3 finished, but data was lost (the count is printed)
    ");
}

#[test]
fn every_verb_shows_examples_in_its_help() {
    let sandbox = Sandbox::new();
    for verb in [
        "record",
        "info",
        "cat",
        "query",
        "worker",
        "align",
        "convert",
        "check",
        "replay-test",
        "reindex",
        "recover",
        "list",
        "play",
        "burst",
        "clock",
        "view",
        "trace",
        "topic",
        "topic echo",
        "node",
        "service",
        "service call",
        "doctor",
        "doctor net",
        "sync",
        "sync fit",
        "sync convert",
        "sync retime",
        "sync simulate",
        "sync watch",
        "sync relay",
        "sync pf",
        "completions",
        "manual",
    ] {
        let text = sandbox.ok(&format!("{verb} --help"));
        assert!(text.contains("EXAMPLES"), "{verb}");
    }
}

#[test]
fn without_a_verb_it_is_wrong_usage() {
    let run = Sandbox::new().run("");
    assert_eq!((run.code, run.stdout.as_str()), (2, ""), "{run}");
    assert!(run.stderr.contains("Usage: timeloom"), "{run}");
}

#[test]
fn the_version_is_that_of_the_package() {
    assert_eq!(
        Sandbox::new().ok("--version"),
        format!("timeloom {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_shell_is_served() {
    let sandbox = Sandbox::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(
            sandbox
                .ok(&format!("completions {shell}"))
                .contains("recover"),
            "{shell}"
        );
    }
    assert_eq!(sandbox.run("completions tcsh").code, 2);
}

#[test]
fn colours_follow_the_flag_and_the_environment() {
    let mut sandbox = Sandbox::new();
    let colored = |sandbox: &Sandbox, flag: &str| {
        sandbox
            .run(&format!("info nowhere {flag}"))
            .stderr
            .contains('\u{1b}')
    };
    assert!(!colored(&sandbox, ""));
    assert!(colored(&sandbox, "--color always"));
    sandbox.set("CLICOLOR_FORCE", "1");
    assert!(colored(&sandbox, ""));
    assert!(!colored(&sandbox, "--color never"));
    sandbox.set("NO_COLOR", "1");
    assert!(!colored(&sandbox, ""));
}
