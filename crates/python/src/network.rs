//! A participant of a ROS domain: over DDS, or over Zenoh where `RMW_IMPLEMENTATION` asks for it, as for the binary.

use std::sync::Arc;

use pyo3::prelude::*;
use timeloom_node::{NodeOptions, RosNode};
use timeloom_transport::{JoinOptions, join};
use timeloom_wire::Participant;
use timeloom_wire::environment::Environment;

use crate::arguments::arguments;
use crate::errors;

arguments! {
    /// The domain and the node, as Python passes them.
    pub(crate) struct NetworkOptions {
        /// The name of the node.
        node_name: String,
        namespace: String,
        remap: Vec<String>,
        /// `ROS_DOMAIN_ID` unless given.
        domain: Option<u32>,
        /// 127.0.0.1 only, whatever the environment says.
        localhost: bool,
        use_sim_time: bool,
    }
}

impl NetworkOptions {
    /// Joins the domain.
    pub(crate) fn join(&self, py: Python<'_>) -> PyResult<Arc<dyn Participant>> {
        let environment = Environment::read(&|name| std::env::var(name).ok());
        let mut environment = environment.map_err(|error| errors::wire(py, &error))?;
        if let Some(domain) = self.domain {
            environment.domain = domain;
        }
        let options = JoinOptions {
            localhost: self.localhost,
            ..JoinOptions::default()
        };
        let joined = py.detach(|| join(&environment, &options));
        let joined = joined.map_err(|error| errors::join(py, &error))?;
        Ok(joined.participant)
    }

    /// A node of the participant with all that ROS expects of a node.
    pub(crate) fn node(
        &self,
        py: Python<'_>,
        participant: &Arc<dyn Participant>,
    ) -> PyResult<RosNode> {
        let failed = |error| errors::node(py, &error);
        let remaps = self.remap.iter().map(|rule| rule.parse());
        let options = NodeOptions {
            namespace: self.namespace.clone(),
            remaps: remaps.collect::<Result<_, _>>().map_err(failed)?,
            use_sim_time: self.use_sim_time,
            ..NodeOptions::new(&self.node_name)
        };
        py.detach(|| RosNode::new(Arc::clone(participant), options))
            .map_err(failed)
    }

    pub(crate) fn use_sim_time(&self) -> bool {
        self.use_sim_time
    }
}
