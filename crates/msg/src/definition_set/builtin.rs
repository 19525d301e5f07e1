//! The built-in definitions: the interfaces that we use and the common ROS packages.
//!
//! Each file lists types as `=== package/msg/Name` with their fields; they are facts of the public interfaces, without comments.

use std::sync::LazyLock;

use super::Definitions;
use crate::definition::{ActionDefinition, MessageDefinition, ServiceDefinition};
use crate::{Distro, InterfaceKind, Result, Schema, TypeHash, TypeName};

/// The layouts of Jazzy, and the types that are only in later distributions.
const BASE: &[&str] = &[
    include_str!("interfaces/action_msgs.txt"),
    include_str!("interfaces/actionlib_msgs.txt"),
    include_str!("interfaces/autoware_internal.txt"),
    include_str!("interfaces/builtin_interfaces.txt"),
    include_str!("interfaces/diagnostic_msgs.txt"),
    include_str!("interfaces/example_interfaces.txt"),
    include_str!("interfaces/geometry_msgs.txt"),
    include_str!("interfaces/lifecycle_msgs.txt"),
    include_str!("interfaces/nav_msgs.txt"),
    include_str!("interfaces/pf_interfaces.txt"),
    include_str!("interfaces/rcl_interfaces.txt"),
    include_str!("interfaces/rmw_dds_common.txt"),
    include_str!("interfaces/rosbag2_interfaces.txt"),
    include_str!("interfaces/rosgraph_msgs.txt"),
    include_str!("interfaces/sensor_msgs.txt"),
    include_str!("interfaces/service_msgs.txt"),
    include_str!("interfaces/shape_msgs.txt"),
    include_str!("interfaces/statistics_msgs.txt"),
    include_str!("interfaces/std_msgs.txt"),
    include_str!("interfaces/std_srvs.txt"),
    include_str!("interfaces/stereo_msgs.txt"),
    include_str!("interfaces/tf2_msgs.txt"),
    include_str!("interfaces/tilde_msg.txt"),
    include_str!("interfaces/timeloom_interfaces.txt"),
    include_str!("interfaces/trajectory_msgs.txt"),
    include_str!("interfaces/type_description_interfaces.txt"),
    include_str!("interfaces/unique_identifier_msgs.txt"),
    include_str!("interfaces/visualization_msgs.txt"),
];
/// Definitions that differ in Humble.
const HUMBLE: &str = include_str!("interfaces/humble.overlay.txt");
/// Definitions that differ in Lyrical.
const LYRICAL: &str = include_str!("interfaces/lyrical.overlay.txt");
/// `tilde_lite` has a type of the same name as `tilde` with another layout.
const TILDE_LITE: &str = include_str!("interfaces/tilde_lite.overlay.txt");

static JAZZY_SET: LazyLock<Definitions> = LazyLock::new(|| build(&[]));
static HUMBLE_SET: LazyLock<Definitions> = LazyLock::new(|| build(&[HUMBLE]));
static LYRICAL_SET: LazyLock<Definitions> = LazyLock::new(|| build(&[LYRICAL]));
static TILDE_LITE_SET: LazyLock<Definitions> = LazyLock::new(|| build(&[TILDE_LITE]));

impl Definitions {
    /// The built-in definitions, in the layouts of Jazzy.
    pub fn builtin() -> &'static Self {
        &JAZZY_SET
    }

    /// The built-in definitions in the layouts of a distribution.
    ///
    /// Types that a distribution lacks are included, in the layout of their first appearance.
    pub fn builtin_of(distro: Distro) -> &'static Self {
        match distro {
            Distro::Humble => &HUMBLE_SET,
            Distro::Jazzy | Distro::Kilted => &JAZZY_SET,
            Distro::Lyrical | Distro::Rolling => &LYRICAL_SET,
        }
    }

    /// The built-in layout of `name` whose RIHS01 hash is `hash`, over all distributions.
    ///
    /// # Errors
    /// Only when `name` is not a type name; an unknown type or hash is `None`.
    pub fn builtin_with_hash(name: &str, hash: &TypeHash) -> Result<Option<Schema>> {
        let name = TypeName::parse(name)?;
        let sets = [&JAZZY_SET, &LYRICAL_SET, &HUMBLE_SET, &TILDE_LITE_SET];
        for set in sets.into_iter().filter(|set| set.get(&name).is_some()) {
            let schema = Schema::compile(set, &name)?;
            if schema.type_hash()? == *hash {
                return Ok(Some(schema));
            }
        }
        Ok(None)
    }
}

fn build(overlays: &[&str]) -> Definitions {
    let mut all = Definitions::default();
    for text in BASE.iter().chain(overlays) {
        add_list(&mut all, text)
            .expect("invariant: the built-in definitions parse, as a test proves");
    }
    all
}

fn add_list(all: &mut Definitions, text: &str) -> Result<()> {
    for entry in text.split("=== ").filter(|entry| !entry.trim().is_empty()) {
        let (name, body) = entry.split_once('\n').unwrap_or((entry, ""));
        let name = TypeName::parse(name.trim())?;
        let messages = match name.kind() {
            InterfaceKind::Msg => vec![MessageDefinition::parse(&name, body)?],
            InterfaceKind::Srv => ServiceDefinition::parse(&name, body)?.messages(),
            InterfaceKind::Action => ActionDefinition::parse(&name, body)?.messages(),
        };
        for message in messages {
            all.insert(message.without_text());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_compiles_in_every_distribution() {
        for distro in Distro::ALL {
            let set = Definitions::builtin_of(distro);
            assert!(set.len() > 400, "{}", set.len());
            for message in set.iter() {
                Schema::compile(set, &message.name).unwrap();
            }
        }
    }

    #[test]
    fn layouts_differ_where_the_distributions_do() {
        let fields = |distro, name: &str| {
            let name = TypeName::parse(name).unwrap();
            Definitions::builtin_of(distro)
                .get(&name)
                .unwrap()
                .fields
                .len()
        };
        assert_eq!(
            fields(Distro::Humble, "rosbag2_interfaces/msg/WriteSplitEvent"),
            2
        );
        assert_eq!(
            fields(Distro::Jazzy, "rosbag2_interfaces/msg/WriteSplitEvent"),
            3
        );
        assert_eq!(
            fields(Distro::Jazzy, "rosbag2_interfaces/srv/Resume_Request"),
            0
        );
        assert_eq!(
            fields(Distro::Rolling, "rosbag2_interfaces/srv/Resume_Request"),
            3
        );
    }

    #[test]
    fn the_hash_picks_the_layout() {
        let tag = "tilde_msg/msg/MessageTrackingTag";
        let lite = "RIHS01_caf8a939920bf35321e09b31fa2d5f76f7279391aa03c991b12092a8b2406436"
            .parse()
            .unwrap();
        let schema = Definitions::builtin_with_hash(tag, &lite).unwrap().unwrap();
        assert_eq!(schema.root().fields().len(), 1);
        assert!(
            Definitions::builtin_with_hash(tag, &TypeHash::from_bytes([0; 32]))
                .unwrap()
                .is_none()
        );
        assert!(
            Definitions::builtin_with_hash("no/msg/Such", &lite)
                .unwrap()
                .is_none()
        );
    }
}
