//! `--ros-args` on a command line, as `rcl` reads them; no files are opened in here.

use std::ffi::OsString;

use super::names::Names;
use super::node_options::NodeOptions;
use super::parameter_file::{self, Section};
use super::remap::{Remap, node_prefix};
use super::rosout::Severity;
use crate::{Error, Result};
use timeloom_msg::ParameterValue;

/// The argument that begins ROS arguments.
const BEGIN: &str = "--ros-args";
/// The argument that ends them.
const END: &str = "--";

/// The arguments between `--ros-args` and `--` (or the end) of a command line.
///
/// ```
/// use timeloom_node::{NodeOptions, RosArguments};
/// let line = ["bag", "--ros-args", "-r", "__node:=rec", "-p", "use_sim_time:=true", "--", "-a"];
/// let (ros, rest) = RosArguments::split(line)?;
/// assert_eq!(rest, ["bag", "-a"]);
/// let options = ros.options(NodeOptions::new("recorder"), |path| std::fs::read_to_string(path))?;
/// assert_eq!(options.parameters["use_sim_time"], true.into());
/// # Ok::<_, timeloom_node::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RosArguments {
    given: bool,
    remaps: Vec<Remap>,
    parameters: Vec<Override>,
    rosout: Option<bool>,
    console: Option<bool>,
    log_levels: Vec<LogLevel>,
    enclave: Option<String>,
    unused: Vec<String>,
}

/// Parameters from the line or from a file, in their order: the last one applies.
#[derive(Clone, Debug, PartialEq)]
enum Override {
    Line(Section),
    File(String),
}

/// `--log-level info`, or `--log-level logger:=info` for one logger.
#[derive(Clone, Debug, PartialEq)]
struct LogLevel {
    logger: Option<String>,
    level: Severity,
}

impl RosArguments {
    /// Removes the ROS arguments from a command line; returns the rest.
    ///
    /// # Errors
    /// When an argument is unknown, not UTF-8, lacks its value, or has an invalid one.
    pub fn split<T: Into<OsString>>(
        line: impl IntoIterator<Item = T>,
    ) -> Result<(Self, Vec<OsString>)> {
        let mut arguments = Self::default();
        let mut rest = Vec::new();
        let mut line = line.into_iter().map(Into::into);
        let mut inside = false;
        while let Some(word) = line.next() {
            if word == BEGIN {
                (inside, arguments.given) = (true, true);
            } else if inside && word == END {
                inside = false;
            } else if inside {
                arguments.take(&text(word)?, &mut line)?;
            } else {
                rest.push(word);
            }
        }
        Ok((arguments, rest))
    }

    fn take(&mut self, word: &str, line: &mut impl Iterator<Item = OsString>) -> Result<()> {
        let mut value = || {
            line.next()
                .filter(|value| value != BEGIN && value != END)
                .ok_or_else(|| refuse(word, "the value is missing"))
                .and_then(text)
        };
        match word {
            "-r" | "--remap" => self.remaps.push(value()?.parse()?),
            "-p" | "--param" => {
                let rule = parameter_rule(&value()?)?;
                self.parameters.push(Override::Line(rule));
            }
            "--params-file" => self.parameters.push(Override::File(value()?)),
            "-e" | "--enclave" => self.enclave = Some(value()?),
            "--log-level" => self.log_levels.push(log_level(&value()?)?),
            "--enable-rosout-logs" => self.rosout = Some(true),
            "--disable-rosout-logs" => self.rosout = Some(false),
            "--enable-stdout-logs" => self.console = Some(true),
            "--disable-stdout-logs" => self.console = Some(false),
            "--log-config-file" | "--log-file-name" => {
                self.unused.push(format!("{word} {}", value()?));
            }
            "--enable-external-lib-logs" => self.unused.push(word.to_owned()),
            // There are no log files, so they are off already.
            "--disable-external-lib-logs" => {}
            // The old form: a rule without its flag.
            rule if rule.contains(":=") => self.remaps.push(rule.parse()?),
            _ => return Err(refuse(word, "no such argument after --ros-args")),
        }
        Ok(())
    }

    /// The same with parameter files of lower priority than everything that was given.
    #[must_use]
    pub fn above_files(&self, files: impl IntoIterator<Item = String>) -> Self {
        let mut both = self.clone();
        let files = files.into_iter().map(Override::File);
        both.parameters.splice(0..0, files);
        both
    }

    /// The same for a second node of the process: only rules for topics and services.
    #[must_use]
    pub fn for_helper(&self) -> Self {
        let rules = self.remaps.iter().filter(|rule| !rule.names_a_node());
        Self {
            remaps: rules.cloned().collect(),
            ..Self::default()
        }
    }

    /// The options of a node with these arguments on top. `read` returns the text of a parameter file.
    ///
    /// # Errors
    /// When a file cannot be read or is not a parameter file, or the remapped name is invalid.
    pub fn options(
        &self,
        mut options: NodeOptions,
        mut read: impl FnMut(&str) -> std::io::Result<String>,
    ) -> Result<NodeOptions> {
        // The program's own rules are first, like the local arguments of a node in rcl.
        options.remaps.extend(self.remaps.iter().cloned());
        options.rosout = self.rosout.unwrap_or(options.rosout);
        let names = Names::new(&options)?;
        let node = names.node().full();
        options.log_level = self.log_level(&node).unwrap_or(options.log_level);
        for given in &self.parameters {
            let sections = match given {
                Override::Line(section) => vec![section.clone()],
                Override::File(path) => {
                    let failed = |reason: String| Error::ParameterFile {
                        path: path.clone(),
                        reason,
                    };
                    let text = read(path).map_err(|error| failed(error.to_string()))?;
                    parameter_file::parse(&text).map_err(failed)?
                }
            };
            for section in sections.into_iter().filter(|section| section.is_for(&node)) {
                options.parameters.extend(section.parameters);
            }
        }
        Ok(options)
    }

    /// Whether `--ros-args` was on the line, even with nothing behind it.
    pub fn is_given(&self) -> bool {
        self.given
    }

    /// The log level of a node, by its full name: the last one for its logger, else the last one for all.
    pub fn log_level(&self, node: &str) -> Option<Severity> {
        let logger = node.trim_start_matches('/').replace('/', ".");
        let last = |wanted: Option<&str>| {
            let mut levels = self.log_levels.iter().rev();
            levels.find(|level| level.logger.as_deref() == wanted)
        };
        last(Some(&logger))
            .or_else(|| last(None))
            .map(|found| found.level)
    }

    /// Whether to log to the console, if it was specified (`--disable-stdout-logs`).
    pub fn console(&self) -> Option<bool> {
        self.console
    }

    /// The enclave, if one was given.
    pub fn enclave(&self) -> Option<&str> {
        self.enclave.as_deref()
    }

    /// Arguments of ROS that have no effect here, for a warning.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }
}

fn text(word: OsString) -> Result<String> {
    word.into_string()
        .map_err(|word| refuse(&word.to_string_lossy(), "it is not UTF-8"))
}

/// `level` or `logger:=level`.
fn log_level(rule: &str) -> Result<LogLevel> {
    let (logger, level) = match rule.split_once(":=") {
        Some(("", _)) => return Err(refuse(rule, "the name of the logger is missing")),
        Some((logger, level)) => (Some(logger.to_owned()), level),
        None => (None, rule),
    };
    Ok(LogLevel {
        logger,
        level: level.parse()?,
    })
}

/// `name:=value` or `node:name:=value`, the value in YAML.
fn parameter_rule(rule: &str) -> Result<Section> {
    let wrong = |reason: &str| refuse(&format!("-p {rule}"), reason);
    let (name, value) = rule
        .split_once(":=")
        .ok_or_else(|| wrong("expected `name:=value`"))?;
    let (node, name) = node_prefix(name);
    if name.is_empty() {
        return Err(wrong("the name is missing"));
    }
    let value: ParameterValue =
        parameter_file::parse_value(value).map_err(|reason| wrong(&reason))?;
    Ok(Section {
        node: node.map_or_else(|| "/**".to_owned(), parameter_file::full_pattern),
        parameters: vec![(name.to_owned(), value)],
    })
}

fn refuse(argument: &str, reason: &str) -> Error {
    Error::Argument {
        argument: argument.to_owned(),
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(line: &[&str]) -> Result<NodeOptions> {
        let (arguments, rest) = RosArguments::split(line.iter().copied())?;
        assert!(rest.is_empty(), "{rest:?}");
        arguments.options(NodeOptions::new("recorder"), |path| match path {
            "a.yaml" => Ok("recorder:\n  ros__parameters:\n    depth: 3\n    x: 1\n".into()),
            _ => Err(std::io::ErrorKind::NotFound.into()),
        })
    }

    #[test]
    fn the_last_value_of_a_parameter_applies() {
        let line = "--ros-args -p depth:=1 --params-file a.yaml -p recorder:x:=2 -p other:x:=9";
        let line: Vec<_> = line.split(' ').collect();
        let parameters = options(&line).unwrap().parameters;
        assert_eq!(parameters["depth"], 3_i64.into());
        assert_eq!(parameters["x"], 2_i64.into());
    }

    #[test]
    fn parameters_apply_to_the_name_after_remapping() {
        let line = [
            "--ros-args",
            "-r",
            "__node:=b",
            "-p",
            "b:x:=1",
            "-p",
            "recorder:x:=2",
        ];
        let options = options(&line).unwrap();
        assert_eq!(options.parameters["x"], 1_i64.into());
    }

    #[test]
    fn arguments_may_be_given_in_parts() {
        let line = [
            "a",
            "--ros-args",
            "-r",
            "x:=y",
            "--",
            "b",
            "--ros-args",
            "z:=w",
        ];
        let (arguments, rest) = RosArguments::split(line).unwrap();
        assert_eq!(rest, ["a", "b"]);
        assert_eq!(arguments.remaps.len(), 2);
    }

    #[test]
    fn logging_and_enclaves_are_understood() {
        let line = [
            "--ros-args",
            "--disable-rosout-logs",
            "-e",
            "/x",
            "--log-level",
            "debug",
        ];
        let (arguments, _) = RosArguments::split(line).unwrap();
        assert_eq!(arguments.enclave(), Some("/x"));
        assert_eq!(arguments.unused(), [] as [&str; 0]);
        let options = options(&line).unwrap();
        assert!(!options.rosout);
        assert_eq!(options.log_level, Severity::Debug);
    }

    #[test]
    fn a_log_level_may_be_for_one_logger() {
        let level = |words: &[&str], node: &str| {
            let words = ["--ros-args"].into_iter().chain(words.iter().copied());
            RosArguments::split(words).unwrap().0.log_level(node)
        };
        let line = ["--log-level", "WARN", "--log-level", "robot.rec:=debug"];
        assert_eq!(level(&line, "/robot/rec"), Some(Severity::Debug));
        assert_eq!(level(&line, "/other"), Some(Severity::Warn));
        assert_eq!(level(&[], "/other"), None);
        let twice = ["--log-level", "debug", "--log-level", "error"];
        assert_eq!(level(&twice, "/other"), Some(Severity::Error));
    }

    #[test]
    fn rules_of_the_program_precede_those_of_the_line() {
        let (arguments, _) = RosArguments::split(["--ros-args", "-r", "/a:=/line"]).unwrap();
        let mut node = NodeOptions::new("n");
        node.remaps = vec!["/a:=/program".parse().unwrap()];
        let options = arguments.options(node, |_| Ok(String::new())).unwrap();
        let names = Names::new(&options).unwrap();
        assert_eq!(names.topic("/a").unwrap(), "/program");
    }

    #[test]
    fn files_of_the_verb_have_lower_priority_than_the_line() {
        let (arguments, _) = RosArguments::split(["--ros-args", "-p", "depth:=9"]).unwrap();
        let both = arguments.above_files(["a.yaml".to_owned()]);
        let read = |_: &str| Ok("recorder: {ros__parameters: {depth: 3, x: 1}}".to_owned());
        let options = both.options(NodeOptions::new("recorder"), read).unwrap();
        assert_eq!(options.parameters["depth"], 9_i64.into());
        assert_eq!(options.parameters["x"], 1_i64.into());
    }

    #[test]
    fn a_second_node_keeps_its_name() {
        let line = [
            "--ros-args",
            "-r",
            "__node:=x",
            "-r",
            "/clock:=/sim",
            "-p",
            "a:=1",
        ];
        let (arguments, _) = RosArguments::split(line).unwrap();
        let helper = arguments.for_helper();
        let options = helper
            .options(NodeOptions::new("_helper"), |_| Ok(String::new()))
            .unwrap();
        let names = Names::new(&options).unwrap();
        assert_eq!(names.node().full(), "/_helper");
        assert_eq!(names.topic("/clock").unwrap(), "/sim");
        assert!(options.parameters.is_empty());
    }

    #[test]
    fn arguments_that_are_not_utf_8_are_allowed_outside() {
        use std::os::unix::ffi::OsStringExt as _;
        let odd = OsString::from_vec(vec![b'a', 0xff]);
        let line = [odd.clone(), "--ros-args".into(), "-r".into(), "a:=b".into()];
        let (arguments, rest) = RosArguments::split(line).unwrap();
        assert!(arguments.is_given());
        assert_eq!(rest, std::slice::from_ref(&odd));
        let error = RosArguments::split(["--ros-args".into(), odd]).unwrap_err();
        assert!(error.to_string().contains("UTF-8"), "{error}");
    }

    #[test]
    fn errors_name_the_argument() {
        let error = |line: &[&str]| options(line).unwrap_err().to_string();
        assert_eq!(
            error(&["--ros-args", "-p"]),
            "invalid argument `-p`: the value is missing"
        );
        assert!(error(&["--ros-args", "-p", "x=1"]).contains("expected `name:=value`"));
        assert!(error(&["--ros-args", "--nonsense"]).contains("no such argument"));
        assert!(error(&["--ros-args", "--log-level", "loud"]).contains("expected a log level"));
        assert!(error(&["--ros-args", "--log-level", ":=info"]).contains("logger is missing"));
        assert!(error(&["--ros-args", "-p", "x:=[1, a]"]).contains("one type"));
        let missing = error(&["--ros-args", "--params-file", "b.yaml"]);
        assert!(missing.starts_with("parameter file b.yaml: "), "{missing}");
    }
}
