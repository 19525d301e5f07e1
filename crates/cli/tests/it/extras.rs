//! Attachments and metadata records: carried over, or counted with exit code 3.

use timeloom_bag::BagReader;
use timeloom_bag::storage::{ExtraCounts, StorageReader as _};

use crate::support::Sandbox;

fn record(opcode: u8, parts: &[&[u8]]) -> Vec<u8> {
    let body = parts.concat();
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), &body].concat()
}

fn text(text: &str) -> Vec<u8> {
    let length = u32::try_from(text.len()).unwrap();
    [&length.to_le_bytes()[..], text.as_bytes()].concat()
}

/// A file of one message, one attachment and one metadata record; the attachment comes last.
fn file() -> Vec<u8> {
    let magic = b"\x89MCAP0\r\n".to_vec();
    let times = [1, 0, 0, 0, 0, 0, 0, 0].repeat(2);
    let message = [&[0, 1, 0, 0][..], &text("hi\0")].concat();
    let pair = [text("who"), text("ana")].concat();
    let pairs = u32::try_from(pair.len()).unwrap().to_le_bytes();
    let records = [
        record(1, &[&text("ros2"), &text("by hand")]),
        record(
            3,
            &[
                &[1, 0],
                &text("std_msgs/msg/String"),
                &text("ros2msg"),
                &text("string data\n"),
            ],
        ),
        record(
            4,
            &[&[1, 0, 1, 0], &text("/chatter"), &text("cdr"), &[0; 4]],
        ),
        record(5, &[&[1, 0, 0, 0, 0, 0], &times, &message]),
        record(12, &[&text("operator"), &pairs, &pair]),
        record(
            9,
            &[
                &times,
                &text("a.txt"),
                &text("text/plain"),
                &5_u64.to_le_bytes(),
                b"hello",
                &[0; 4],
            ],
        ),
    ];
    let end = [record(15, &[&[0; 4]]), record(2, &[&[0; 20]])].concat();
    [magic.clone(), records.concat(), end, magic].concat()
}

#[test]
fn an_mcap_output_keeps_extra_records() {
    let sandbox = Sandbox::new();
    sandbox.write("in.mcap", file());
    let run = sandbox.run("convert in.mcap -o out");
    assert_eq!(run.code, 0, "{run}");
    let extras = BagReader::open(&sandbox.path("out")).unwrap().info().extras;
    let both = ExtraCounts {
        attachments: 1,
        metadata_records: 1,
    };
    assert_eq!(extras, both);
}

#[test]
fn other_outputs_count_them() {
    let sandbox = Sandbox::new();
    sandbox.write("in.mcap", file());
    for arguments in [
        "convert in.mcap -o out -s sqlite3",
        "convert in.mcap -o table --format csv",
        "convert in.mcap -o - --format ndjson",
    ] {
        let run = sandbox.run(arguments);
        assert_eq!(run.code, 3, "{run}");
        let count = "1 attachment, 1 metadata record were not carried over";
        assert!(run.stderr.contains(count), "{run}");
    }
}

#[test]
fn recover_counts_an_attachment_that_is_cut_off() {
    let sandbox = Sandbox::new();
    let bytes = file();
    let within = bytes
        .windows(5)
        .position(|window| window == b"hello")
        .unwrap()
        + 2;
    sandbox.write("in.mcap", &bytes[..within]);
    let run = sandbox.run("recover in.mcap");
    assert_eq!(run.code, 3, "{run}");
    assert!(
        run.stderr.contains("1 attachment, 0 metadata records"),
        "{run}"
    );
    let extras = BagReader::open(&sandbox.path("in.mcap"))
        .unwrap()
        .info()
        .extras;
    assert_eq!((extras.attachments, extras.metadata_records), (0, 1));
}
