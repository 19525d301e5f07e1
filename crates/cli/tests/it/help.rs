//! Help, version, completions, colours.

use crate::support::Sandbox;

#[test]
fn help_goes_to_stdout() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("--help"), @"
    exit code: 0
    ----- stdout
    Time for ROS 2: record, replay, synchronise and trace a robot's messages, without a ROS installation

    Usage: timeloom [OPTIONS] <COMMAND>

    Commands:
      info         Show what a bag holds, without reading its messages
      cat          Print messages as JSON, with filters and limits
      convert      Rewrite bags: slice, filter, rename, split, compress, merge, change the storage;
                   export to CSV and JSON lines
      reindex      Rebuild metadata.yaml from the files of a bag
      recover      Get back all that a damaged bag holds: cut files, missing summaries, broken metadata
      list         List storages, compressors and known interfaces
      topic        Look at the topics of a running robot, and publish: list, info, echo, hz, bw, pub
      node         Look at the nodes of a running robot: list, info
      service      Look at the services of a running robot, and call them: list, call
      doctor       Find out what is wrong: net
      sync         Relate a sensor's clock to the host's: fit, convert, retime, simulate, watch, pf,
                   pf-device
      completions  Print the tab completion of a shell
      manual       Write the man pages of all verbs into a directory
      help         Print this message or the help of the given subcommand(s)

    Options:
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
      timeloom info my_bag                                  what is in it, at once
      timeloom cat my_bag --topics /imu/data -n 1           one message as JSON
      timeloom convert my_bag -o cut --start +10s --end +20s
      timeloom recover my_bag                               after a crash or a power cut
      timeloom topic echo /odom                             a running robot's messages as JSON
      timeloom doctor net                                   why two nodes do not hear each other

    EXIT CODES
      0 done   1 failed   2 wrong usage   3 finished, but data was lost (the count is printed)
    ");
    for verb in [
        "info",
        "cat",
        "convert",
        "reindex",
        "recover",
        "list",
        "view",
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
