//! ROS arguments on a command line, and the parameter file that they name.

use timeloom_node::{NodeOptions, RosArguments};

/// The first line holds the arguments, the rest is the file: what both make of a node is the same twice.
pub fn fuzz_params(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (line, file) = text.split_once('\n').unwrap_or((&text, ""));
    let words = ["--ros-args", "--params-file", "f"];
    let words = words.into_iter().chain(line.split(' '));
    let Ok((arguments, _)) = RosArguments::split(words.map(str::to_owned)) else {
        return;
    };
    let node = NodeOptions::new("recorder");
    let options = || arguments.options(node.clone(), |_| Ok(file.to_owned()));
    match (options(), options()) {
        (Ok(one), Ok(two)) => assert_eq!(
            format!("{:?}", one.parameters),
            format!("{:?}", two.parameters)
        ),
        (Err(_), Err(_)) => {}
        _ => panic!("the same arguments were taken and refused"),
    }
}
