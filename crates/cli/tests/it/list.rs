//! `list`.

use crate::support::Sandbox;

#[test]
fn storages_and_compressors() {
    let sandbox = Sandbox::new();
    insta::assert_snapshot!(sandbox.run("list storage"), @"
    exit code: 0
    ----- stdout
    mcap
    sqlite3
    ");
    insta::assert_snapshot!(sandbox.run("list storage -v"), @"
    exit code: 0
    ----- stdout
    mcap     read and write; files .mcap; presets none, fastwrite, zstd_fast, zstd_small
    sqlite3  read (schemas 1 to 4) and write (schema 4); files .db3; presets none, resilient
    ");
    assert_eq!(sandbox.ok("list converter"), "cdr\n");
    assert_eq!(sandbox.ok("list compressor"), "zstd\n");
    assert_eq!(sandbox.ok("list decompressor"), "zstd\nlz4\n");
    assert_eq!(sandbox.run("list storage mcap").code, 2);
}

#[test]
fn interfaces_with_their_definitions_and_hashes() {
    let sandbox = Sandbox::new();
    let all = sandbox.ok("list interfaces");
    assert!(all.lines().count() > 150, "{}", all.lines().count());
    for name in [
        "std_msgs/msg/Header",
        "std_srvs/srv/SetBool",
        "sensor_msgs/msg/PointCloud2",
    ] {
        assert!(all.lines().any(|line| line == name), "{name}");
    }
    assert!(!all.contains("SetBool_Request"));
    insta::assert_snapshot!(sandbox.run("list interfaces std_msgs/msg/Header"), @"
    exit code: 0
    ----- stdout
    # std_msgs/msg/Header
    # RIHS01_f49fb3ae2cf070f793645ff749683ac6b06203e41c891e17701b1cb597ce6a01
    builtin_interfaces/Time stamp
    string frame_id

    ================================================================================
    MSG: builtin_interfaces/Time
    int32 sec
    uint32 nanosec
    ");
    insta::assert_snapshot!(sandbox.run("list interfaces std_srvs/srv/SetBool"), @"
    exit code: 0
    ----- stdout
    # std_srvs/srv/SetBool
    # RIHS01_abe9e4bb6b41b40e6789712c00ec8871923e089af3f667a79992a428cff2da0a
    bool data
    ---
    bool success
    string message
    ");
    insta::assert_snapshot!(sandbox.run("list interfaces rosgraph_msgs -v"), @"
    exit code: 0
    ----- stdout
    rosgraph_msgs/msg/Action RIHS01_221c3b8d63470add1ea70231a2c5c3488bd0a11fab7f4b87bbf06ad341062e39
    rosgraph_msgs/msg/Clock RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564
    rosgraph_msgs/msg/Graph RIHS01_46e58f3566aba3e489d14877ea71c339e4267aaa769bcd9d7e2d031850a05dfb
    rosgraph_msgs/msg/InterfaceType RIHS01_08e222a0b6950d275c45c2924b6bb6b79b7fdede9c90cdf5d6952dc6f197916c
    rosgraph_msgs/msg/Node RIHS01_2260c5128039783515bd98bc77bbb49ae4758818d9e3c6536b313c2024c77045
    rosgraph_msgs/msg/QoSProfile RIHS01_0c83305c2c647eecbf3a0ad549c121d6cf12606d902915a28e904d8f2aba42ee
    rosgraph_msgs/msg/Service RIHS01_01a80e1dc066d6f37846e00029710c39cfdfd8c807be16f8f6181f5834f5c679
    rosgraph_msgs/msg/Topic RIHS01_e378dfc444e3e04c76ffdda3caa997f107b6f2d9ba059fcf09b2f39433a149e4
    rosgraph_msgs/msg/TypeHash RIHS01_b57248b9d4ea0964bd583c53ae3b94354e599b8183a135af48826287bef3c1f6
    ");
    insta::assert_snapshot!(sandbox.run("list interfaces std_msgs/Hader"), @"
    exit code: 1
    ----- stderr
    error: no built-in interface std_msgs/msg/Hader

    hint: did you mean std_msgs/msg/Header?
    ");
    insta::assert_snapshot!(sandbox.run("list interfaces std_msg"), @"
    exit code: 1
    ----- stderr
    error: no built-in interface std_msg

    hint: did you mean std_msgs?
    ");
    assert_eq!(sandbox.run("list interfaces a/b/c/d").code, 1);
    let humble =
        sandbox.ok("list interfaces rosbag2_interfaces/msg/WriteSplitEvent --ros-distro humble");
    assert_ne!(
        humble,
        sandbox.ok("list interfaces rosbag2_interfaces/msg/WriteSplitEvent")
    );
}
