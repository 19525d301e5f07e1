use std::fmt;

use timeloom_msg::name::{validate_namespace, validate_node_name};

use crate::error::Result;

/// A node's namespace and name.
///
/// ```
/// use timeloom_wire::NodeName;
/// let node = NodeName::new("/robot1", "rosbag2_player")?;
/// assert_eq!(node.full(), "/robot1/rosbag2_player");
/// assert!(NodeName::new("/", "no blanks").is_err());
/// # Ok::<_, timeloom_wire::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeName {
    namespace: String,
    name: String,
}

impl NodeName {
    /// Checks both parts by the rules of ROS; the namespace begins with `/`.
    ///
    /// # Errors
    /// When one of them is not a valid ROS name.
    pub fn new(namespace: &str, name: &str) -> Result<Self> {
        validate_namespace(namespace)?;
        validate_node_name(name)?;
        Ok(Self {
            namespace: namespace.into(),
            name: name.into(),
        })
    }

    /// The namespace, `/` at least.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name without its namespace.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Namespace and name together.
    pub fn full(&self) -> String {
        let namespace = self.namespace.trim_end_matches('/');
        format!("{namespace}/{}", self.name)
    }
}

impl fmt::Display for NodeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.full())
    }
}
