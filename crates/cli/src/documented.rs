//! Every command that the documentation shows, and every one in `deploy/`, is one that the binary understands.
//!
//! The `console` blocks are run by the tests in `tests/it`; this reads all the others: blocks of `sh`, commands
//! between back-quotes, units of systemd, the container file, and the examples of `--help`.

use std::fs;
use std::path::Path;

use clap::{Command, CommandFactory as _, Parser as _, error::ErrorKind};

use crate::cli::Cli;
use crate::ros_line;

/// A command in a document, with its position.
struct Shown {
    place: String,
    text: String,
    in_sentence: bool,
}

/// How the line of a unit begins that names the program, up to its name.
const START: &str = "ExecStart=/usr/bin/";

/// The words of a command as a shell would split them, up to a pipe, a redirection or a comment.
fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let (mut quote, mut begun) = (None, false);
    for letter in text.chars() {
        match (quote, letter) {
            (Some(open), _) if letter == open => quote = None,
            (None, '\'' | '"') => (quote, begun) = (Some(letter), true),
            (None, '|' | '>' | '&' | ';') => break,
            (None, '#') if !begun => break,
            (None, ' ') => {
                if begun {
                    words.push(String::new());
                }
                begun = false;
            }
            _ => {
                begun = true;
                if let Some(word) = words.last_mut() {
                    word.push(letter);
                }
            }
        }
    }
    if !begun {
        words.pop();
    }
    words
}

/// The commands of a page: lines of `sh` blocks and text between back-quotes.
fn of_page(place: &str, page: &str) -> Vec<Shown> {
    let mut shown = Vec::new();
    let mut add = |number: usize, text: &str, in_sentence: bool| {
        let text = text.trim().trim_start_matches("sudo ");
        let text = text.strip_prefix(START).unwrap_or(text).to_owned();
        if text.starts_with("timeloom ") {
            let place = format!("{place}:{}", number + 1);
            shown.push(Shown {
                place,
                text,
                in_sentence,
            });
        }
    };
    let mut block: Option<&str> = None;
    for (number, line) in page.lines().enumerate() {
        if let Some(kind) = line.trim().strip_prefix("```") {
            block = block.is_none().then_some(kind);
        } else if let Some(kind) = block {
            if kind == "sh" || kind == "ini" && line.starts_with(START) {
                add(number, line, false);
            }
        } else {
            // Every second piece stands between back-quotes.
            for text in line.split('`').skip(1).step_by(2) {
                add(number, text, true);
            }
        }
    }
    shown
}

/// The examples of a verb and of its parts; a description follows behind two or more spaces.
fn of_help(verb: &Command, path: &str, shown: &mut Vec<Shown>) {
    let help = verb.get_after_help().map(ToString::to_string);
    for line in help.unwrap_or_default().lines() {
        let line = line.trim();
        if line.starts_with("timeloom ") {
            let text = line.split("  ").next().unwrap_or(line).to_owned();
            let place = format!("{path} --help");
            shown.push(Shown {
                place,
                text,
                in_sentence: false,
            });
        }
    }
    for part in verb.get_subcommands() {
        of_help(part, &format!("{path} {}", part.get_name()), shown);
    }
}

fn pages(folder: &Path, found: &mut Vec<Shown>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(of_page(&path.display().to_string(), &text));
        }
    }
}

/// The reason why a command does not parse; abbreviations (`…`, `<verb>`) are skipped.
fn complaint(text: &str, in_sentence: bool) -> Option<String> {
    if text.contains('…') || text.contains('<') || text == "timeloom --help" {
        return None;
    }
    let (_, words) = match ros_line::split(words(text).into_iter().map(Into::into)) {
        Ok(split) => split,
        Err(reason) => return Some(format!("{reason}: {text}")),
    };
    match Cli::try_parse_from(words).err()?.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => None,
        // `timeloom info -v` in a sentence names a verb and a flag, and leaves out what is clear.
        ErrorKind::MissingRequiredArgument
        | ErrorKind::MissingSubcommand
        | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
            if in_sentence =>
        {
            None
        }
        kind => Some(format!("{kind}: {text}")),
    }
}

#[test]
fn every_documented_command_is_understood() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut shown = Vec::new();
    pages(&root.join("docs"), &mut shown);
    for page in [
        "README.md",
        "CHANGELOG.md",
        "crates/cli/README.md",
        "python/README.md",
    ] {
        if let Ok(text) = fs::read_to_string(root.join(page)) {
            shown.extend(of_page(page, &text));
        }
    }
    of_help(&Cli::command(), "timeloom", &mut shown);
    assert!(
        shown.len() > 150,
        "only {} commands were found",
        shown.len()
    );
    let wrong: Vec<String> = shown
        .iter()
        .filter_map(|one| {
            Some(format!(
                "{}: {}",
                one.place,
                complaint(&one.text, one.in_sentence)?
            ))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The commands in `deploy/`: those of the units with the settings of `robot.env`.
#[test]
fn every_command_of_the_units_is_understood() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let read = |name: &str| fs::read_to_string(deploy.join(name)).unwrap();
    let settings = read("robot.env");
    let settings: Vec<(&str, &str)> = settings
        .lines()
        .filter_map(|line| line.split_once('='))
        .collect();
    let set = |text: &str| {
        settings
            .iter()
            .fold(text.to_owned(), |text, (name, value)| {
                text.replace(&format!("${{{name}}}"), value)
                    .replace(&format!("\\\"${name}\\\""), value)
            })
    };
    let mut count = 0;
    for file in [
        "timeloom-record.service",
        "timeloom-upload.service",
        "Containerfile",
    ] {
        let text = set(&read(file));
        let commands = text
            .lines()
            .filter(|line| line.starts_with("Exec") || line.starts_with("CMD"));
        for command in commands.flat_map(|line| line.split("timeloom ").skip(1)) {
            let words = command.split([';', '"', '\n']).next().unwrap_or_default();
            let command = format!("timeloom {words}");
            assert!(!command.contains('$'), "{file}: {command}");
            let wrong = complaint(&command, false);
            assert!(wrong.is_none(), "{file}: {wrong:?}");
            count += 1;
        }
    }
    assert_eq!(count, 4);
}

#[test]
fn a_wrong_command_is_found() {
    assert!(complaint("timeloom info my_bag --no-such-flag", false).is_some());
    assert!(complaint("timeloom inof my_bag", false).is_some());
    assert!(complaint("timeloom convert my_bag -o", false).is_some());
    assert!(complaint("timeloom info my_bag -v | head # what is in it", false).is_none());
    assert!(complaint("timeloom sync pf", true).is_none());
    assert!(complaint("timeloom info -v", true).is_none());
    assert!(complaint("timeloom info -v", false).is_some());
    assert!(complaint("timeloom info --nothing", true).is_some());
    let page = "`timeloom a`\n```sh\ntimeloom b\n```\n```text\ntimeloom c\n```\n";
    let texts: Vec<String> = of_page("p", page).into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["timeloom a", "timeloom b"]);
    let page = "```ini\nUser=robot\nExecStart=/usr/bin/timeloom d\n```\n";
    let texts: Vec<String> = of_page("p", page).into_iter().map(|one| one.text).collect();
    assert_eq!(texts, ["timeloom d"]);
    assert_eq!(
        words("timeloom cat 'a b' -n 1 # c"),
        ["timeloom", "cat", "a b", "-n", "1"]
    );
}
