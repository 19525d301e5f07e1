//! `make demo`: a simulated robot, recorded, replayed, and compared with the ground truth.
//!
//! A simulated lidar with a drifting clock and a pipeline of tracked nodes run in a process of their own and speak
//! DDS on 127.0.0.1, through a network that loses packets. `timeloom record` records them as a user would.
//! Then the recording is compared with what the robot really did. Exits with 0 only if every claim is true.
#![expect(clippy::print_stdout, reason = "a demo shows what it does")]

mod account;
mod bag_file;
mod claim;
mod domain;
mod lineage;
mod overhead;
mod page;
mod playback;
mod recording;
mod robot;
mod stamps;
mod truth;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use self::claim::Chapter;
use self::domain::Domain;
use self::truth::Truth;

type Failure = Box<dyn std::error::Error>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [role, number, directory] if role == "--robot" => {
            domain(number).and_then(|domain| robot::run(domain, Path::new(directory)))
        }
        [role, number, tracked] if role == "--overhead-robot" => {
            domain(number).and_then(|domain| overhead::robot(domain, tracked == "with"))
        }
        [role, number] if role == "--overhead-listener" => {
            domain(number).and_then(overhead::listener)
        }
        [role, rounds] if role == "--overhead" => rounds
            .parse()
            .map_err(Failure::from)
            .and_then(overhead::measure),
        [] => return direct().map_or_else(|failure| failed(&failure), judged),
        _ => Err("usage: demo, or demo --overhead ROUNDS".into()),
    };
    outcome.map_or_else(|failure| failed(&failure), |()| ExitCode::SUCCESS)
}

fn domain(number: &str) -> Result<Domain, Failure> {
    let number = number.parse()?;
    Ok(Domain { number })
}

fn judged(all_true: bool) -> ExitCode {
    if all_true {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn failed(failure: &Failure) -> ExitCode {
    println!("error: {failure}");
    ExitCode::FAILURE
}

fn direct() -> Result<bool, Failure> {
    let directory = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/demo");
    if directory.exists() {
        std::fs::remove_dir_all(&directory)?;
    }
    std::fs::create_dir_all(&directory)?;
    let directory = directory.canonicalize()?;
    let domain = Domain::own();

    println!(
        "Timeloom: a simulated lidar and five nodes on DDS domain {}, 127.0.0.1 only.",
        domain.number
    );
    println!(
        "Of the packets that the robot sends, {} in a thousand are lost on purpose.\n",
        domain::LOST_PER_MILLE
    );
    recording::make(domain, &directory)?;
    let bag = directory.join("bag");
    bag_file::check_files(&bag)?;
    let truth = Truth::read(&directory)?;

    let mut chapters = Vec::new();
    for chapter in [
        account::check(&bag, &truth)?,
        stamps::check(&bag, &truth)?,
        lineage::check(&bag, &directory, &truth)?,
        playback::check(&bag, domain)?,
    ] {
        println!("\n{chapter}");
        chapters.push(chapter);
    }
    let all_true = chapters.iter().all(Chapter::is_true);
    let report = directory.join("report.html");
    std::fs::write(&report, page::html(&chapters))?;
    println!("\nThe same as a page:  {}", report.display());
    println!(
        "The lineage graph:   {}",
        directory.join("lineage.html").display()
    );
    println!("The bag:             {}", bag.display());
    println!(
        "\n{}",
        if all_true {
            "All of it is true."
        } else {
            "NOT all of it is true: see the lines marked ✗."
        }
    );
    Ok(all_true)
}
