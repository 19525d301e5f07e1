//! The names of a node, its topics and its services after remapping.

use timeloom_msg::name::expand_name;
use timeloom_wire::NodeName;

use super::node_options::NodeOptions;
use super::remap::{self, Named, Remap};
use crate::Result;

/// A node's name with its remap rules: relative names become full names as in `rcl`.
///
/// ```
/// use timeloom_node::{Names, NodeOptions};
/// let mut options = NodeOptions::new("recorder");
/// options.remaps = vec!["__ns:=/robot".parse()?, "scan:=/front/scan".parse()?];
/// let names = Names::new(&options)?;
/// assert_eq!(names.node().full(), "/robot/recorder");
/// assert_eq!(names.topic("scan")?, "/front/scan");
/// assert_eq!(names.topic("odom")?, "/robot/odom");
/// # Ok::<_, timeloom_node::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    node: NodeName,
    remaps: Vec<Remap>,
}

impl Names {
    /// The names of a node with these options.
    ///
    /// # Errors
    /// When the name or the namespace is not valid.
    pub fn new(options: &NodeOptions) -> Result<Self> {
        Ok(Self {
            node: remap::node_name(&options.name, &options.namespace, &options.remaps)?,
            remaps: options.remaps.clone(),
        })
    }

    /// The node's name, after remapping.
    pub fn node(&self) -> &NodeName {
        &self.node
    }

    /// The full name of a topic (`chatter`, `~/status`, `/tf`), after remapping.
    ///
    /// # Errors
    /// When it is not a valid ROS name.
    pub fn topic(&self, name: &str) -> Result<String> {
        remap::resolve(name, Named::Topic, &self.node, &self.remaps)
    }

    /// The full name of a service, after remapping.
    ///
    /// # Errors
    /// When it is not a valid ROS name.
    pub fn service(&self, name: &str) -> Result<String> {
        remap::resolve(name, Named::Service, &self.node, &self.remaps)
    }

    /// The full name of a topic or service before remapping.
    ///
    /// # Errors
    /// When it is not a valid ROS name.
    pub fn expand(&self, name: &str) -> Result<String> {
        Ok(expand_name(name, self.node.namespace(), self.node.name())?)
    }

    /// The name under which the node reaches a topic of the graph: the one that [`topic`](Self::topic) turns into it.
    /// `None` when a rule maps that name to another topic.
    ///
    /// ```
    /// use timeloom_node::{Names, NodeOptions};
    /// let mut options = NodeOptions::new("recorder");
    /// options.remaps = vec!["/a:=/b".parse()?];
    /// let names = Names::new(&options)?;
    /// assert_eq!(names.topic_behind("/b").as_deref(), Some("/a"));
    /// assert_eq!(names.topic_behind("/a"), None);
    /// assert_eq!(names.topic_behind("/c").as_deref(), Some("/c"));
    /// # Ok::<_, timeloom_node::Error>(())
    /// ```
    pub fn topic_behind(&self, full: &str) -> Option<String> {
        let leads_there = |name: &String| self.topic(name).is_ok_and(|found| found == full);
        let sources = remap::sources(Named::Topic, &self.node, &self.remaps);
        sources
            .into_iter()
            .chain([full.to_owned()])
            .find(leads_there)
    }

    /// Whether any topic name is remapped.
    pub fn remaps_topics(&self) -> bool {
        !remap::sources(Named::Topic, &self.node, &self.remaps).is_empty()
    }
}
