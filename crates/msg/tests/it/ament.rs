//! Definitions of installed packages.

use std::fs;

use timeloom_msg::{AmentIndex, Definitions};

#[test]
fn definitions_are_found_in_the_prefixes_in_order() {
    let root = std::env::temp_dir().join(format!("timeloom-msg-ament-{}", std::process::id()));
    let write = |prefix: &str, path: &str, text: &str| {
        let file = root.join(prefix).join("share").join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    };
    write(
        "overlay",
        "demo/msg/Reading.msg",
        "std_msgs/Header header\nUnit unit\nfloat32 value\n",
    );
    write("underlay", "demo/msg/Reading.msg", "float64 old\n");
    write(
        "underlay",
        "demo/msg/Unit.idl",
        "module demo { module msg { struct Unit { string name; }; }; };",
    );
    write("underlay", "demo/srv/Ask.srv", "string q\n---\nReading a\n");
    write("underlay", "demo/msg/Broken.msg", "what\n");
    let value = format!(
        "{}:{}",
        root.join("overlay").display(),
        root.join("underlay").display()
    );
    let index = AmentIndex::from_prefix_path(&value);

    let schema = Definitions::schema_from(&index, "demo/msg/Reading").unwrap();
    assert_eq!(schema.root().fields().len(), 3);
    let request = Definitions::schema_from(&index, "demo/srv/Ask_Response").unwrap();
    assert_eq!(request.root().fields().len(), 1);
    let error = Definitions::schema_from(&index, "demo/msg/Broken")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "line 1 of demo/msg/Broken: expected a field name, found nothing"
    );
    assert!(Definitions::schema_from(&index, "demo/msg/Missing").is_err());
    assert!(AmentIndex::from_prefix_path("").is_empty());
    fs::remove_dir_all(root).unwrap();
}
