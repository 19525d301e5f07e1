//! `--ros-args` on a command line, as `rcl` reads them; no files are opened in here.

use super::node_options::NodeOptions;
use super::parameter_file::{self, Section};
use super::parameter_value::ParameterValue;
use super::remap::{self, Remap, node_prefix};
use crate::{Error, Result};

/// What stands between `--ros-args` and `--` (or the end) of a command line.
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
    remaps: Vec<Remap>,
    parameters: Vec<Override>,
    rosout: Option<bool>,
    enclave: Option<String>,
    unused: Vec<String>,
}

/// Parameters from the line or from a file, in their order: the last counts.
#[derive(Clone, Debug, PartialEq)]
enum Override {
    Line(Section),
    File(String),
}

impl RosArguments {
    /// Takes the ROS arguments out of a command line; gives what is left.
    ///
    /// # Errors
    /// When one of them is unknown, lacks its value, or has one that is not valid.
    pub fn split<T: Into<String>>(
        line: impl IntoIterator<Item = T>,
    ) -> Result<(Self, Vec<String>)> {
        let mut arguments = Self::default();
        let mut rest = Vec::new();
        let mut line = line.into_iter().map(Into::into);
        let mut inside = false;
        while let Some(word) = line.next() {
            match (inside, word.as_str()) {
                (_, "--ros-args") => inside = true,
                (true, "--") => inside = false,
                (true, _) => arguments.take(&word, &mut line)?,
                (false, _) => rest.push(word),
            }
        }
        Ok((arguments, rest))
    }

    fn take(&mut self, word: &str, line: &mut impl Iterator<Item = String>) -> Result<()> {
        let mut value = || {
            line.next()
                .filter(|value| value != "--ros-args" && value != "--")
                .ok_or_else(|| refuse(word, "its value is missing"))
        };
        match word {
            "-r" | "--remap" => self.remaps.push(value()?.parse()?),
            "-p" | "--param" => {
                let rule = parameter_rule(&value()?)?;
                self.parameters.push(Override::Line(rule));
            }
            "--params-file" => self.parameters.push(Override::File(value()?)),
            "-e" | "--enclave" => self.enclave = Some(value()?),
            "--enable-rosout-logs" => self.rosout = Some(true),
            "--disable-rosout-logs" => self.rosout = Some(false),
            "--log-level" | "--log-config-file" | "--log-file-name" => {
                self.unused.push(format!("{word} {}", value()?));
            }
            "--enable-stdout-logs"
            | "--disable-stdout-logs"
            | "--enable-external-lib-logs"
            | "--disable-external-lib-logs" => self.unused.push(word.to_owned()),
            // The form of old: a rule without its flag.
            rule if rule.contains(":=") => self.remaps.push(rule.parse()?),
            _ => return Err(refuse(word, "no such argument after --ros-args")),
        }
        Ok(())
    }

    /// The options of a node with these arguments on top. `read` gives the text of a parameter file.
    ///
    /// # Errors
    /// When a file cannot be read or is no parameter file, or the remapped name is not valid.
    pub fn options(
        &self,
        mut options: NodeOptions,
        mut read: impl FnMut(&str) -> std::io::Result<String>,
    ) -> Result<NodeOptions> {
        // The line's rules count before those of the program.
        options.remaps.splice(0..0, self.remaps.iter().cloned());
        options.rosout = self.rosout.unwrap_or(options.rosout);
        let node = remap::node_name(&options.name, &options.namespace, &options.remaps)?.full();
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

    /// The enclave, if one was given.
    pub fn enclave(&self) -> Option<&str> {
        self.enclave.as_deref()
    }

    /// What ROS knows and we do not do: to be said.
    pub fn unused(&self) -> &[String] {
        &self.unused
    }
}

/// `name:=value` or `node:name:=value`, the value in YAML.
fn parameter_rule(rule: &str) -> Result<Section> {
    let wrong = |reason: &str| refuse(&format!("-p {rule}"), reason);
    let (name, value) = rule
        .split_once(":=")
        .ok_or_else(|| wrong("`name:=value` is expected"))?;
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
    fn the_last_value_of_a_parameter_counts() {
        let line = "--ros-args -p depth:=1 --params-file a.yaml -p recorder:x:=2 -p other:x:=9";
        let line: Vec<_> = line.split(' ').collect();
        let parameters = options(&line).unwrap().parameters;
        assert_eq!(parameters["depth"], 3_i64.into());
        assert_eq!(parameters["x"], 2_i64.into());
    }

    #[test]
    fn the_name_after_remapping_decides_about_parameters() {
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
    fn arguments_may_come_in_parts_and_end() {
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
        assert_eq!(arguments.unused(), ["--log-level debug"]);
        assert!(!options(&line).unwrap().rosout);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let error = |line: &[&str]| options(line).unwrap_err().to_string();
        assert_eq!(
            error(&["--ros-args", "-p"]),
            "invalid argument `-p`: its value is missing"
        );
        assert!(error(&["--ros-args", "-p", "x=1"]).contains("`name:=value` is expected"));
        assert!(error(&["--ros-args", "--nonsense"]).contains("no such argument"));
        assert!(error(&["--ros-args", "-p", "x:=[1, a]"]).contains("one type"));
        let missing = error(&["--ros-args", "--params-file", "b.yaml"]);
        assert!(missing.starts_with("parameter file b.yaml: "), "{missing}");
    }
}
