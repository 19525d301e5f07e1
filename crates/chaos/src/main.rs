//! The fault campaign: the real `timeloom` between foreign peers, with injected faults.
//!
//! `make chaos` runs it; RELIABILITY.md describes the faults and the checks.

mod account;
mod bag;
mod campaign;
mod claims;
mod dice;
mod failure;
mod fault;
mod faults;
mod ledger;
mod namespace;
mod options;
mod playback;
mod process;
mod robot;
mod script;
mod table;
mod tally;
mod test_bed;

use std::process::ExitCode;

use crate::campaign::{Campaign, say};
use crate::failure::Failure;
use crate::options::Options;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(failure) => {
            say(&format!("error: {failure}"));
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "the report is data")]
fn run() -> Result<ExitCode, Failure> {
    let options = Options::read(std::env::args_os().skip(1))?;
    let Some(root) = namespace::bed() else {
        if options.smoke && !namespace::is_allowed() {
            say("skipped: namespaces and TAP interfaces are not allowed here");
            return Ok(ExitCode::SUCCESS);
        }
        return namespace::enter();
    };
    say(&format!(
        "seed {}, {} minutes, {} pairs of hosts (again: SEED={})",
        options.seed, options.minutes, options.workers, options.seed
    ));
    let _freezer = namespace::prepare(&root)?;
    let (results, elapsed) = Campaign::new(&options).run(&root);
    println!("{}", table::table(&results));
    let sum = table::sum(&results);
    println!(
        "seed {}: {} faults in {:.0} s, {} of them kill -9; {} unexplained, {} hung, {} problems",
        options.seed,
        sum.injected,
        elapsed.as_secs_f64(),
        sum.kills,
        sum.unexplained,
        sum.hung,
        sum.problems.len()
    );
    Ok(if sum.is_good() && sum.injected > 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
