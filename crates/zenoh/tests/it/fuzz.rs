//! The fuzz target on stable Rust: tokens and attachments, changed at random from a fixed seed.

#[path = "../../../../fuzz/src/zenoh.rs"]
#[expect(unreachable_pub, reason = "the fuzz crate exports it")]
mod zenoh;

use timeloom_testkit::mutation::fuzz;

#[test]
fn fuzz_tokens_and_attachments() {
    let hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    let tokens = [
        "@ros2_lv/0/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener".to_owned(),
        format!(
            "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/{hash}/::,7:,:,:,,"
        ),
        format!(
            "@ros2_lv/2/f9980ee0495eaafb3e38f0d19e2eae12/0/10/SS/%/%ns/add/%add/p::srv::dds_::A_/{hash}/2:1:2,7:0,250000000:10,0:3,1,500000000"
        ),
        "2:1:2,7:0,250000000:10,0:3,1,500000000".to_owned(),
    ];
    let mut inputs: Vec<Vec<u8>> = tokens.into_iter().map(String::into_bytes).collect();
    let mut attachment = vec![7; 33];
    attachment[16] = 16;
    inputs.push(attachment);
    let words = [
        "/",
        "%",
        "::",
        "@ros2_lv",
        "SC",
        "MS",
        "TypeHashNotSupported",
        ",",
    ];
    fuzz("zenoh", zenoh::fuzz_zenoh, &inputs, 1000, &words);
}
