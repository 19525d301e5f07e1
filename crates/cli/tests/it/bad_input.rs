//! Each kind of bad input: a clear error, what to do, the right exit code, and never a panic.

use std::fs;

use crate::support::Sandbox;

#[test]
fn paths_without_a_bag() {
    let sandbox = Sandbox::new();
    sandbox.write("junk.mcap", "this is no bag at all");
    sandbox.write("notes.txt", "this is no bag at all");
    sandbox.write("short.db3", "");
    sandbox.write("dir/notes.txt", "x");
    insta::assert_snapshot!(sandbox.run("info nowhere"), @"
    exit code: 1
    ----- stderr
    error: cannot open nowhere: No such file or directory (os error 2)

    hint: check the path: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("cat junk.mcap"), @"
    exit code: 1
    ----- stderr
    error: junk.mcap is not an MCAP file: its first 8 bytes are not the MCAP magic

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("info notes.txt"), @"
    exit code: 1
    ----- stderr
    error: notes.txt is not a bag: it is neither an MCAP file nor an sqlite3 database

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("info dir"), @"
    exit code: 1
    ----- stderr
    error: dir is not a bag: it holds neither metadata.yaml nor .mcap or .db3 files

    hint: a bag is a directory with metadata.yaml, or one .mcap or .db3 file
    ");
    insta::assert_snapshot!(sandbox.run("cat short.db3"), @"
    exit code: 1
    ----- stderr
    error: short.db3: sqlite: no such table: topics: Error code 1: SQL logic error

    hint: this is an sqlite3 database, but rosbag2 did not write it
    ");
}

#[test]
fn invalid_metadata() {
    let sandbox = Sandbox::new();
    let bag = sandbox.copy("mcap_services_only", "deep");
    fs::write(bag.join("metadata.yaml"), "[".repeat(20_000)).unwrap();
    let run = sandbox.run("info deep");
    // The files hold everything: nothing is lost.
    assert_eq!(run.code, 0, "{run}");
    assert!(
        run.stdout
            .contains("Damage:            metadata.yaml: yaml line 1:"),
        "{run}"
    );
    assert_eq!(
        run.stderr,
        "\nhint: run `timeloom reindex deep` to rebuild metadata.yaml\n"
    );
    fs::write(
        bag.join("metadata.yaml"),
        "rosbag2_bagfile_information:\n  version: 9\n  relative_file_paths: [../../etc/passwd]\n",
    )
    .unwrap();
    let run = sandbox.run("info deep");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run}");
    assert!(run.stderr.contains("outside the bag directory"), "{run}");
}

#[test]
fn damage_inside_a_chunk() {
    let sandbox = Sandbox::new();
    sandbox.unchecked();
    // The real rosbag2 writes no checksums: damage shows in bags of our own.
    sandbox.write("mcap.yaml", "chunkSize: 20000\n");
    sandbox.ok("convert BAGS/mcap_plain -o flipped --storage-config-file mcap.yaml");
    let file = sandbox.path("flipped/flipped_0.mcap");
    let mut bytes = fs::read(&file).unwrap();
    let middle = bytes.len() / 3;
    bytes[middle] ^= 0x55;
    fs::write(&file, bytes).unwrap();
    let run = sandbox.run("convert flipped -o new");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("error: the input is damaged: "),
        "{run}"
    );
    assert!(run.stderr.contains("hint: run `timeloom recover flipped` to restore its messages, or skip what is damaged with --skip-damage"), "{run}");
    let run = sandbox.run("cat flipped");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("warning: "), "{run}");
    let run = sandbox.run("convert flipped -o skipped --skip-damage");
    assert_eq!(run.code, 3, "{run}");
    assert!(run.stderr.contains("damaged place"), "{run}");
    sandbox.ok("info skipped");
    let run = sandbox.run("recover flipped");
    assert_eq!(run.code, 3, "{run}");
    sandbox.ok("cat flipped");
}

#[test]
fn files_truncated_anywhere_do_not_panic() {
    let sandbox = Sandbox::new();
    for (bag, name, seen_at_once) in [
        ("mcap_services_only", "mcap_services_only_0.mcap", true),
        ("sqlite3_plain", "sqlite3_plain_0.db3", true),
        ("sqlite3_file_zstd", "sqlite3_file_zstd_0.db3.zstd", false),
    ] {
        let copy = sandbox.copy(bag, bag);
        let bytes = fs::read(copy.join(name)).unwrap();
        for part in 0..12 {
            fs::write(copy.join(name), &bytes[..bytes.len() * part / 12]).unwrap();
            // Whether a compressed file is whole is known only when it was unpacked.
            let run = sandbox.run(&format!("info {bag}"));
            let seen = matches!(run.code, 1 | 3);
            assert!(seen || (part > 0 && !seen_at_once), "{bag} {part}\n{run}");
            let run = sandbox.run(&format!("cat {bag}"));
            assert!(matches!(run.code, 1 | 3), "{bag} {part}\n{run}");
            assert!(!run.stderr.contains("panicked"), "{run}");
        }
    }
}

#[test]
fn names_that_the_bag_does_not_have() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --topics /chater"), @"
    exit code: 1
    ----- stderr
    error: no topic /chater in the bag

    hint: did you mean /chatter?
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --topics /nothing/like/it"), @"
    exit code: 1
    ----- stderr
    error: no topic /nothing/like/it in the bag

    hint: `timeloom info <bag>` lists them
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --services /add_two_int"), @"
    exit code: 1
    ----- stderr
    error: no service /add_two_int in the bag

    hint: did you mean /add_two_ints?
    ");
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o new --topic-types std_msgs/msg/Strin"), @"
    exit code: 1
    ----- stderr
    error: no type std_msgs/msg/Strin in the bag

    hint: did you mean std_msgs/msg/String?
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain -e ("), @"
    exit code: 2
    ----- stderr
    error: invalid value '(' for '--regex <REGEX>': Parsing error at position 1: Opening parenthesis without closing parenthesis

    For more information, try '--help'.
    ");
}

#[test]
fn an_expression_that_runs_away() {
    let run = Sandbox::new().run(r"cat BAGS/mcap_plain -e (([a-z/]+)+)+(?=x)\1y");
    assert_eq!((run.code, run.stdout.as_str()), (1, ""), "{run}");
    assert!(
        run.stderr
            .contains("error: cannot match /camera/image_raw by"),
        "{run}"
    );
}

#[test]
fn invalid_times_are_rejected() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --start tomorrow"), @"
    exit code: 2
    ----- stderr
    error: invalid value 'tomorrow' for '--start <TIME>': expected +10s or +1m30s (after the start), -10s (before the end), 14:03:07, 2026-11-15T08:58:51.9, an RFC 3339 time, seconds since the epoch such as 1794733131.5, or nanoseconds such as 1794733131500000000

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o new --start +3s --end +1s"), @"
    exit code: 2
    ----- stderr
    error: the end (1794733132.923572955) is before the start (1794733134.923572955)

    hint: give --end a later time than --start; both are inclusive
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --start +400000d"), @"
    exit code: 2
    ----- stderr
    error: invalid value '+400000d' for '--start <TIME>': expected +10s or +1m30s (after the start), -10s (before the end), 14:03:07, 2026-11-15T08:58:51.9, an RFC 3339 time, seconds since the epoch such as 1794733131.5, or nanoseconds such as 1794733131500000000

    For more information, try '--help'.
    ");
}

#[test]
fn outputs_that_cannot_be_written() {
    let sandbox = Sandbox::new();
    sandbox.write("there/file", "x");
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o there"), @"
    exit code: 1
    ----- stderr
    error: there exists already

    hint: choose another output, or remove this one: bags are never overwritten
    ");
    insta::assert_snapshot!(sandbox.run("convert BAGS/mcap_plain -o there/file/new"), @"
    exit code: 1
    ----- stderr
    error: cannot create there/file/new: Not a directory (os error 20)

    hint: check that the directory above it exists, that you may write there, and that the disk is not full
    ");
    assert_eq!(fs::read_to_string(sandbox.path("there/file")).unwrap(), "x");
}

#[test]
fn arguments_that_make_no_sense() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("inof BAGS/mcap_plain"), @"
    exit code: 2
    ----- stderr
    error: unrecognized subcommand 'inof'

      tip: a similar subcommand exists: 'info'

    Usage: timeloom [OPTIONS] <COMMAND>

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("cat"), @"
    exit code: 2
    ----- stderr
    error: the following required arguments were not provided:
      <BAG>...

    Usage: timeloom cat <BAG>...

    For more information, try '--help'.
    ");
    insta::assert_snapshot!(sandbox.run("cat BAGS/mcap_plain --raw --field x"), @"
    exit code: 2
    ----- stderr
    error: the argument '--raw' cannot be used with '--field <PATH>'

    Usage: timeloom cat --raw <BAG>...

    For more information, try '--help'.
    ");
}
