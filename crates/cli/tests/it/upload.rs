//! `timeloom upload` against a server that speaks S3, over a network that fails.

use std::fs;
use std::path::Path;

use timeloom_bag::bag::ClosedFiles;
use timeloom_bag::{BagOptions, BagWriter, Message, TopicId, TopicInfo};
use timeloom_testkit::until;

use crate::record_robot::Recording;
use crate::support::{Sandbox, stored};
use crate::upload_proxy::bucket;

const JOURNAL: &str = ".timeloom_upload.json";

/// A bag of one file of about 20 MiB: three parts.
fn large_bag(path: &Path) {
    let mut writer = BagWriter::create(path, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/blob", "std_msgs/msg/ByteMultiArray");
    let topic = writer.add_topic(&topic).unwrap();
    let mut random = 1_u64;
    for index in 0..20_i64 {
        let bytes = (0..1 << 17).flat_map(|_| {
            random = random
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            random.to_le_bytes()
        });
        let data: Vec<u8> = bytes.collect();
        write(&mut writer, topic, index, &data);
    }
    let (_, outcome) = writer.finish().unwrap();
    assert!(outcome.error.is_none());
}

fn write(writer: &mut BagWriter, topic: TopicId, time: i64, data: &[u8]) {
    let message = Message {
        topic,
        log_time_ns: time,
        publish_time_ns: time,
        sequence: 0,
        data,
    };
    let outcome = writer.write(&[message], time);
    assert!(outcome.error.is_none(), "{:?}", outcome.error);
}

#[test]
fn an_uploaded_bag_is_the_same_and_is_not_sent_twice() {
    let Some((_s3, proxy, sandbox)) = bucket() else {
        return;
    };
    for name in [
        "mcap_plain",
        "sqlite3_plain",
        "mcap_split_dur",
        "mcap_file_zstd",
    ] {
        sandbox.copy(name, name);
        let run = sandbox.run(&format!("upload {name} --to s3://robots/r2/"));
        assert_eq!(run.code, 0, "{run}");
        for verb in ["info", "cat"] {
            let here = sandbox.run(&format!("{verb} BAGS/{name}"));
            let there = sandbox.run(&format!("{verb} s3://robots/r2/{name}"));
            assert!(here.stdout == there.stdout, "{verb} {name}\n{there}");
        }
    }
    let sent = proxy.count("PUT ");
    sandbox.ok("upload mcap_plain --to s3://robots/r2");
    // Without its journal, too: what is there is compared, not sent.
    fs::remove_file(sandbox.path("mcap_plain").join(JOURNAL)).unwrap();
    sandbox.ok("upload mcap_plain --to s3://robots/r2");
    assert_eq!(proxy.count("PUT "), sent);
    let status = sandbox.run("upload . --to s3://robots/r2 --status --format json");
    assert_eq!(status.code, 0, "{status}");
    assert!(status.stdout.contains("\"waiting_files\":0"), "{status}");
    let other = sandbox.run("upload . --to s3://robots/elsewhere --status");
    assert_eq!(other.code, 1, "{other}");
    assert!(other.stderr.contains("1 file (275.1 KiB) to go"), "{other}");
}

#[test]
fn a_single_file_is_uploaded_as_one() {
    let Some((_s3, _proxy, sandbox)) = bucket() else {
        return;
    };
    sandbox.copy("mcap_plain", "bag");
    sandbox.ok("upload bag/mcap_plain_0.mcap --to s3://robots/files");
    let there = sandbox.ok("cat s3://robots/files/mcap_plain_0.mcap");
    assert!(there == sandbox.ok("cat BAGS/mcap_plain"));
}

#[test]
fn a_killed_upload_resumes_at_its_last_part() {
    let Some((_s3, proxy, sandbox)) = bucket() else {
        return;
    };
    large_bag(&sandbox.path("large"));
    let mut command = sandbox.command("upload large --to s3://robots --limit 1MB");
    let upload = Recording::start(&mut command);
    let journal = sandbox.path("large").join(JOURNAL);
    until("a part is there", || {
        fs::read_to_string(&journal).is_ok_and(|text| text.contains("content_id"))
    });
    upload.signal("-KILL");
    upload.gone();
    let run = sandbox.run("upload large --to s3://robots");
    assert_eq!(run.code, 0, "{run}");
    assert_eq!(
        proxy.count("partNumber=1&"),
        1,
        "the first part is sent once"
    );
    assert_eq!(
        proxy.count("POST "),
        2,
        "one upload: begun and completed once"
    );
    sandbox.ok("convert s3://robots/large -o back");
    assert!(stored(&sandbox.path("back")) == stored(&sandbox.path("large")));
}

#[test]
fn connections_that_break_off_cost_nothing() {
    let Some((_s3, proxy, sandbox)) = bucket() else {
        return;
    };
    large_bag(&sandbox.path("large"));
    proxy.set(|faults| faults.cut_after = Some(3 << 20));
    let run = sandbox.run("upload large --to s3://robots --delete");
    assert_eq!(run.code, 0, "{run}");
    assert!(!sandbox.path("large").exists(), "{run}");
    sandbox.ok("convert s3://robots/large -o back");
    assert_eq!(stored(&sandbox.path("back")).len(), 20);
}

#[test]
fn damaged_bytes_are_noticed_and_nothing_is_deleted() {
    let Some((_s3, proxy, sandbox)) = bucket() else {
        return;
    };
    sandbox.copy("mcap_plain", "bag");
    proxy.set(|faults| faults.flip_at = Some(100_000));
    let run = sandbox.run("upload bag --to s3://robots --delete");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("arrived damaged"), "{run}");
    assert!(sandbox.path("bag/mcap_plain_0.mcap").is_file());
    // What is there is another content now: replaced only if asked.
    let run = sandbox.run("upload bag --to s3://robots --delete");
    assert!(
        run.code == 1 && run.stderr.contains("exists with another content"),
        "{run}"
    );
    assert!(sandbox.path("bag/mcap_plain_0.mcap").is_file());
    let run = sandbox.run("upload bag --to s3://robots --delete --overwrite");
    assert_eq!(run.code, 0, "{run}");
    assert!(!sandbox.path("bag").exists());
    assert!(sandbox.ok("cat s3://robots/bag") == sandbox.ok("cat BAGS/mcap_plain"));
}

#[test]
fn another_bag_of_the_same_name_is_not_replaced() {
    let Some((_s3, _proxy, sandbox)) = bucket() else {
        return;
    };
    for folder in ["a", "b"] {
        fs::create_dir(sandbox.path(folder)).unwrap();
    }
    sandbox.copy("mcap_plain", "a/run");
    sandbox.copy("sqlite3_plain", "b/run");
    fs::copy(
        sandbox.path("a/run/metadata.yaml"),
        sandbox.path("b/run/mcap_plain_0.mcap"),
    )
    .unwrap();
    fs::copy(
        sandbox.path("a/run/metadata.yaml"),
        sandbox.path("b/run/metadata.yaml"),
    )
    .unwrap();
    sandbox.unchecked();
    sandbox.ok("upload a/run --to s3://robots");
    let run = sandbox.run("upload b/run --to s3://robots --delete");
    assert_eq!(run.code, 1, "{run}");
    assert!(run.stderr.contains("exists with another content"), "{run}");
    assert!(run.stderr.contains("--overwrite"), "{run}");
    assert!(sandbox.ok("cat s3://robots/run") == sandbox.ok("cat BAGS/mcap_plain"));
}

#[test]
fn a_bag_of_a_killed_recorder_is_not_complete() {
    let Some((_s3, _proxy, sandbox)) = bucket() else {
        return;
    };
    sandbox.unchecked();
    let bag = sandbox.path("killed");
    let mut writer = BagWriter::create(&bag, BagOptions::default()).unwrap();
    let topic = TopicInfo::new("/a", "std_msgs/msg/Empty");
    let topic = writer.add_topic(&topic).unwrap();
    write(&mut writer, topic, 1, &[0, 1, 0, 0, 0]);
    writer.split().unwrap();
    write(&mut writer, topic, 2, &[0, 1, 0, 0, 0]);
    until("the first file is closed", || {
        ClosedFiles::find(&bag).is_ok_and(|closed| closed.files.len() == 1)
    });
    // As a kill leaves it.
    drop(writer);
    let run = sandbox.run("upload killed --to s3://robots --delete");
    assert_eq!(run.code, 1, "{run}");
    assert!(
        run.stderr.contains("1 file") && run.stderr.contains("the recording has not ended"),
        "{run}"
    );
    assert!(run.stderr.contains("timeloom recover"), "{run}");
    assert!(bag.join("metadata.yaml").is_file() && bag.join("killed_1.mcap").is_file());
    assert!(!bag.join("killed_0.mcap").exists(), "it has arrived");
}

#[test]
fn wrong_addresses_are_refused_before_anything_is_sent() {
    let mut sandbox = Sandbox::new();
    sandbox.set("AWS_ACCESS_KEY_ID", "key");
    sandbox.set("AWS_SECRET_ACCESS_KEY", "secret");
    sandbox.copy("mcap_plain", "bag");
    for (path, says) in [
        ("nothing", "nothing: no such file or directory"),
        ("bag/metadata.yaml", "bag/metadata.yaml: not a bag"),
    ] {
        let run = sandbox.run(&format!("upload {path} --to s3://robots"));
        assert!(run.code == 1 && run.stderr.contains(says), "{run}");
    }
    for (to, says) in [
        (
            "https://server/bags",
            "bags are uploaded to s3:// and gs:// only",
        ),
        ("/mnt/disk", "bags are uploaded to s3:// and gs:// only"),
        ("s3://", "the name of the bucket is missing"),
    ] {
        let run = sandbox.run(&format!("upload bag --to {to}"));
        assert_eq!(run.code, 1, "{run}");
        assert!(run.stderr.contains(says), "{run}");
        let run = sandbox.run(&format!("record -a --upload {to} -o none"));
        assert_eq!(run.code, 1, "{run}");
        assert!(
            run.stderr.contains(says) && !sandbox.path("none").exists(),
            "{run}"
        );
    }
}
