//! Names of interface types: `std_msgs/msg/String`, and `std_msgs::msg::dds_::String_` on DDS.

use std::fmt;
use std::str::FromStr;

use crate::{Error, Result};

/// Longest accepted package or type name: DDS type names are 255 bytes at most.
const MAX_PART: usize = 255;

/// Suffixes of types that rosidl derives from a service, from the services of an action, and from the action itself.
const SERVICE_PARTS: [&str; 3] = ["_Request", "_Response", "_Event"];
const ACTION_SERVICES: [&str; 2] = ["_SendGoal", "_GetResult"];
const ACTION_PARTS: [&str; 4] = ["_Goal", "_Result", "_Feedback", "_FeedbackMessage"];

/// The middle part of a type name.
// The order is that of the spellings, so that sorted type names are sorted text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum InterfaceKind {
    /// `action`: a part of an action.
    Action,
    /// `msg`: a message.
    Msg,
    /// `srv`: a part of a service.
    Srv,
}

impl InterfaceKind {
    /// The spelling in a type name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Action => "action",
            Self::Msg => "msg",
            Self::Srv => "srv",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "action" => Self::Action,
            "msg" => Self::Msg,
            "srv" => Self::Srv,
            _ => return None,
        })
    }
}

/// The name of an interface type, such as `std_msgs/msg/String`.
///
/// ```
/// use timeloom_msg::TypeName;
///
/// let name = TypeName::parse("std_msgs/msg/String")?;
/// assert_eq!(name.package(), "std_msgs");
/// assert_eq!(name.to_dds(), "std_msgs::msg::dds_::String_");
/// assert!(TypeName::parse("std_msgs.String").is_err());
/// # Ok::<(), timeloom_msg::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeName {
    package: String,
    kind: InterfaceKind,
    name: String,
}

impl TypeName {
    /// Joins the three parts.
    pub fn new(package: &str, kind: InterfaceKind, name: &str) -> Result<Self> {
        let whole = || format!("{package}/{}/{name}", kind.as_str());
        let expected = "letters, digits and `_`, not starting with a digit";
        if !is_identifier(package) || !is_identifier(name) {
            return Err(Error::TypeName {
                name: whole(),
                expected,
            });
        }
        Ok(Self {
            package: package.to_owned(),
            kind,
            name: name.to_owned(),
        })
    }

    /// Reads `package/msg/Name`, or `package/Name` which means the same for a message.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |expected| Error::TypeName {
            name: text.to_owned(),
            expected,
        };
        let mut parts = text.split('/');
        match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(package), Some(name), None, None) => Self::new(package, InterfaceKind::Msg, name),
            (Some(package), Some(kind), Some(name), None) => {
                let kind = InterfaceKind::parse(kind)
                    .ok_or_else(|| wrong("`msg`, `srv` or `action` in the middle"))?;
                Self::new(package, kind, name)
            }
            _ => Err(wrong("`package/msg/Name`")),
        }
    }

    /// Reads a DDS type name, such as `std_msgs::msg::dds_::String_`.
    pub fn from_dds(text: &str) -> Result<Self> {
        let wrong = || Error::TypeName {
            name: text.to_owned(),
            expected: "`package::msg::dds_::Name_`",
        };
        let mut parts = text.split("::");
        let (Some(package), Some(kind), Some("dds_"), Some(name), None) = (
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
            parts.next(),
        ) else {
            return Err(wrong());
        };
        let kind = InterfaceKind::parse(kind).ok_or_else(wrong)?;
        Self::new(package, kind, name.strip_suffix('_').ok_or_else(wrong)?)
    }

    /// The DDS type name, such as `std_msgs::msg::dds_::String_`.
    pub fn to_dds(&self) -> String {
        format!(
            "{}::{}::dds_::{}_",
            self.package,
            self.kind.as_str(),
            self.name
        )
    }

    /// The package.
    pub fn package(&self) -> &str {
        &self.package
    }

    /// The kind: message, or part of a service or an action.
    pub fn kind(&self) -> InterfaceKind {
        self.kind
    }

    /// The last part of the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// `package/Name`, as fields and `MSG:` lines spell a message.
    pub fn short(&self) -> String {
        format!("{}/{}", self.package, self.name)
    }

    /// The service, action or message whose file defines this type: `p/action/Dock` for `p/action/Dock_SendGoal_Event`,
    /// and the name itself for a message.
    #[must_use]
    pub fn interface(&self) -> Self {
        let cut = |name: &Self, suffixes: &[&str]| {
            suffixes
                .iter()
                .find_map(|suffix| name.without_suffix(suffix))
        };
        if self.kind == InterfaceKind::Msg {
            return self.clone();
        }
        let service = cut(self, &SERVICE_PARTS).unwrap_or_else(|| self.clone());
        if self.kind == InterfaceKind::Srv {
            return service;
        }
        cut(&service, &ACTION_SERVICES)
            .or_else(|| cut(&service, &ACTION_PARTS))
            .unwrap_or(service)
    }

    /// Whether it names a service: one of its own, or one of the two of an action.
    pub fn is_service(&self) -> bool {
        let of_action = ACTION_SERVICES
            .iter()
            .any(|suffix| self.without_suffix(suffix).is_some());
        match self.kind {
            InterfaceKind::Msg => false,
            InterfaceKind::Srv => self.interface() == *self,
            InterfaceKind::Action => of_action,
        }
    }

    /// The kind of interface that a name with this suffix is derived from: `Add_Request` is a part of a service,
    /// `Dock_Goal` of an action.
    ///
    /// ROS allows `_` only in the names of derived types, so `package/Name` is unambiguous for them.
    pub(crate) fn derived_kind(&self) -> Option<InterfaceKind> {
        let ends = |suffixes: &[&str]| {
            suffixes
                .iter()
                .any(|suffix| self.without_suffix(suffix).is_some())
        };
        let inner = SERVICE_PARTS
            .iter()
            .find_map(|suffix| self.without_suffix(suffix));
        let of_action = inner.as_ref().is_some_and(|inner| {
            let mut services = ACTION_SERVICES.iter();
            services.any(|suffix| inner.without_suffix(suffix).is_some())
        });
        if of_action || ends(&ACTION_SERVICES) || ends(&ACTION_PARTS) {
            Some(InterfaceKind::Action)
        } else {
            inner.map(|_| InterfaceKind::Srv)
        }
    }

    /// The spelling in the header of a section: `package/Name` for messages, as rosbag2 writes it, and the full name
    /// for parts of services and actions, as other readers expect it.
    pub(crate) fn header_spelling(&self) -> String {
        match self.kind {
            InterfaceKind::Msg => self.short(),
            InterfaceKind::Srv | InterfaceKind::Action => self.to_string(),
        }
    }

    /// The meaning of `package/Name` inside the definition of a service or an action.
    #[must_use]
    pub(crate) fn with_derived_kind(mut self) -> Self {
        if self.kind == InterfaceKind::Msg {
            self.kind = self.derived_kind().unwrap_or(self.kind);
        }
        self
    }

    /// The same name with `suffix` at its end, such as `AddTwoInts` and `_Request`.
    #[must_use]
    pub fn with_suffix(&self, suffix: &str) -> Self {
        Self {
            package: self.package.clone(),
            kind: self.kind,
            name: format!("{}{suffix}", self.name),
        }
    }

    /// The same name without `suffix`, or `None` if it has another ending.
    #[must_use]
    pub fn without_suffix(&self, suffix: &str) -> Option<Self> {
        let name = self
            .name
            .strip_suffix(suffix)
            .filter(|name| !name.is_empty())?;
        Some(Self {
            package: self.package.clone(),
            kind: self.kind,
            name: name.to_owned(),
        })
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.package, self.kind.as_str(), self.name)
    }
}

impl FromStr for TypeName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Self::parse(text)
    }
}

pub(crate) fn is_identifier(text: &str) -> bool {
    text.len() <= MAX_PART
        && text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_short_and_dds_forms() {
        let name = TypeName::parse("std_msgs/msg/String").unwrap();
        assert_eq!(name, TypeName::parse("std_msgs/String").unwrap());
        assert_eq!(name.to_string(), "std_msgs/msg/String");
        assert_eq!(name.short(), "std_msgs/String");
        assert_eq!(name.to_dds(), "std_msgs::msg::dds_::String_");
        assert_eq!(
            TypeName::from_dds("std_msgs::msg::dds_::String_").unwrap(),
            name
        );
    }

    #[test]
    fn services_and_actions() {
        let request = TypeName::from_dds("rosbag2_interfaces::srv::dds_::Pause_Request_").unwrap();
        assert_eq!(request.to_string(), "rosbag2_interfaces/srv/Pause_Request");
        assert_eq!(request.without_suffix("_Request").unwrap().name(), "Pause");
        assert_eq!(
            TypeName::parse("a/action/B").unwrap().kind(),
            InterfaceKind::Action
        );
    }

    #[test]
    fn derived_names_know_their_interface() {
        let kind = |name: &str| TypeName::parse(name).unwrap().with_derived_kind().kind();
        for name in [
            "p/F_SendGoal_Request",
            "p/F_GetResult",
            "p/F_Goal",
            "p/F_FeedbackMessage",
        ] {
            assert_eq!(kind(name), InterfaceKind::Action, "{name}");
        }
        assert_eq!(kind("p/S_Event"), InterfaceKind::Srv);
        for name in ["p/Goal", "p/_Goal", "p/SendGoal", "p/A_B"] {
            assert_eq!(kind(name), InterfaceKind::Msg, "{name}");
        }
        let interface = |name: &str| TypeName::parse(name).unwrap().interface().to_string();
        for part in [
            "_SendGoal_Event",
            "_GetResult",
            "_FeedbackMessage",
            "_Goal",
            "",
        ] {
            assert_eq!(interface(&format!("p/action/F{part}")), "p/action/F");
        }
        assert_eq!(interface("p/srv/S_Event"), "p/srv/S");
        assert_eq!(interface("p/msg/A_Goal"), "p/msg/A_Goal");
        let is_service = |name: &str| TypeName::parse(name).unwrap().is_service();
        assert!(is_service("p/srv/S") && is_service("p/action/F_SendGoal"));
        assert!(
            !is_service("p/srv/S_Event") && !is_service("p/action/F") && !is_service("p/msg/M")
        );
        let spelling = |name: &str| TypeName::parse(name).unwrap().header_spelling();
        assert_eq!(spelling("p/action/F_Goal"), "p/action/F_Goal");
        assert_eq!(spelling("p/msg/M"), "p/M");
    }

    #[test]
    fn wrong_names_are_errors() {
        for bad in [
            "",
            "String",
            "a/b/C",
            "a/msg/C/d",
            "a/msg/",
            "/msg/C",
            "1a/msg/C",
            "a b/msg/C",
        ] {
            assert!(TypeName::parse(bad).is_err(), "{bad}");
        }
        for bad in ["std_msgs::msg::String_", "std_msgs::msg::dds_::String", "x"] {
            assert!(TypeName::from_dds(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn order_is_the_order_of_the_text() {
        let mut names: Vec<_> = [
            "a_b/msg/X",
            "a/srv/X",
            "a/msg/X",
            "a/msg/W",
            "a2/action/X",
            "a/action/Z",
        ]
        .map(|n| TypeName::parse(n).unwrap())
        .into();
        let mut texts: Vec<_> = names.iter().map(ToString::to_string).collect();
        names.sort();
        texts.sort();
        assert_eq!(
            names.iter().map(ToString::to_string).collect::<Vec<_>>(),
            texts
        );
    }
}
