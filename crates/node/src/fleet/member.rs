use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::sync::Arc;

use timeloom_msg::{QosProfile, Value};

use super::command::FleetCommand;
use super::status::FleetStatus;
use super::{CONTROL, PREFIX};
use crate::recorder::{Control, Phase, Recorder};
use crate::ros_node::{RosNode, Service, ServiceTypes};
use crate::{Error, Result};

/// Identity of a recorder in its fleet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetIdentity {
    /// The name of the host.
    pub host: String,
    /// The number of the process.
    pub process: u32,
    /// The version of the program.
    pub version: String,
}

/// A recorder in a fleet; it leaves the fleet when it is dropped.
#[derive(Debug)]
pub struct FleetMember {
    service: Service,
}

impl FleetMember {
    /// Joins a fleet: the recorder executes its commands from now on.
    ///
    /// # Errors
    /// [`Error::Option`] when the name of the fleet is not a part of a ROS name, and errors of the middleware.
    pub fn join(
        node: &RosNode,
        recorder: &Recorder,
        fleet: &str,
        identity: FleetIdentity,
    ) -> Result<Self> {
        Self::check_name(fleet)?;
        // Containers have the same process numbers, and may have the same host name.
        let number = RandomState::new().build_hasher().finish() & 0xffff_ffff;
        let host = name_part(&identity.host);
        let name = format!(
            "{PREFIX}{fleet}/{host}_{}_{number:08x}/control",
            identity.process
        );
        let types = ServiceTypes::builtin(CONTROL)?;
        let response = Arc::clone(&types.response);
        let (recorder, own) = (recorder.clone(), node.name().full());
        let handler = move |request: &Value| {
            let command = request.get("command");
            let command = command.as_ref().and_then(Value::as_str);
            let command = command.and_then(FleetCommand::from_name);
            let done = command
                .ok_or(Error::Request { field: "command" })
                .and_then(|command| execute(&recorder, command));
            let mut answer = response.default_value()?;
            answer.set("done", done.is_ok())?;
            if let Err(error) = done {
                answer.set("error", error.to_string())?;
            }
            FleetStatus::new(&recorder.status(), &own, &identity).fill(&mut answer)?;
            Ok(answer)
        };
        Ok(Self {
            service: node.serve_with(&name, types, QosProfile::SERVICES, handler)?,
        })
    }

    /// Checks the name of a fleet: letters, digits and underscores, as a part of a ROS name.
    ///
    /// # Errors
    /// [`Error::Option`] with the reason.
    pub fn check_name(fleet: &str) -> Result<()> {
        let starts = fleet.starts_with(|c: char| c.is_ascii_alphabetic());
        let all = fleet.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if starts && all && !fleet.contains("__") && !fleet.ends_with('_') {
            return Ok(());
        }
        Err(Error::Option {
            option: "fleet",
            reason: format!(
                "`{fleet}` is not a name: use letters, digits and single underscores, a letter first"
            ),
        })
    }

    /// The full name of its service.
    pub fn service(&self) -> &str {
        self.service.name()
    }
}

fn execute(recorder: &Recorder, command: FleetCommand) -> Result<()> {
    let control = match (command, recorder.status().phase) {
        (FleetCommand::Status, _)
        | (FleetCommand::Start, Phase::Recording)
        | (FleetCommand::Stop, Phase::Stopped) => return Ok(()),
        (FleetCommand::Start, Phase::Paused) | (FleetCommand::Resume, _) => Control::Resume,
        (FleetCommand::Start, Phase::Stopped) => Control::Record { output: None },
        (FleetCommand::Stop, _) => Control::Stop,
        (FleetCommand::Pause, _) => Control::Pause,
        (FleetCommand::Split, _) => Control::Split,
        (FleetCommand::Snapshot, _) => Control::Snapshot,
    };
    recorder.control(&control)?;
    // A bag of a recorder that starts paused begins paused, too.
    if command == FleetCommand::Start && recorder.status().phase == Phase::Paused {
        recorder.control(&Control::Resume)?;
    }
    Ok(())
}

/// A host name as a part of a ROS name.
fn name_part(host: &str) -> String {
    let mut name = String::from("h");
    for c in host.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    // Letters first, without the mark; a digit first needs it.
    match name.get(1..) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_alphabetic()) => rest.to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_names_become_parts_of_ros_names() {
        for (host, name) in [
            ("robot-1.lab", "robot_1_lab"),
            ("7up", "h7up"),
            ("-x--y-", "h_x_y"),
            ("", "h"),
            ("räuber", "r_uber"),
        ] {
            assert_eq!(name_part(host), name);
        }
    }

    #[test]
    fn names_of_fleets_are_parts_of_ros_names() {
        for name in ["yard", "yard_7", "Y2"] {
            assert!(FleetMember::check_name(name).is_ok(), "{name}");
        }
        for name in ["", "7up", "a/b", "a__b", "_a", "a_", "a b", "ä"] {
            assert!(FleetMember::check_name(name).is_err(), "{name}");
        }
    }
}
