//! Prints the RIHS01 hash of built-in types: `type_hash jazzy std_msgs/msg/String`, or of all types of a distribution.

use timeloom_msg::{Definitions, Distro, Result};

#[expect(clippy::print_stdout, reason = "the output of an example")]
fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let distro: Distro = arguments.next().as_deref().unwrap_or("jazzy").parse()?;
    let definitions = Definitions::builtin_of(distro);
    let wanted: Vec<String> = arguments.collect();
    for message in definitions.iter() {
        let name = message.name.to_string();
        if wanted.is_empty() || wanted.contains(&name) {
            println!("{name} {}", definitions.schema(&name)?.type_hash()?);
        }
    }
    Ok(())
}
