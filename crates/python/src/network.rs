//! A participant of a ROS domain: over DDS, or over Zenoh where `RMW_IMPLEMENTATION` asks for it, as for the binary.

use std::sync::Arc;

use pyo3::prelude::*;
use timeloom_dds::DdsParticipant;
use timeloom_node::{NodeOptions, RosNode};
use timeloom_wire::Participant;
use timeloom_wire::environment::{Backend, Environment};

use crate::errors;

/// The domain and the node, as Python passes them.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
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

impl NetworkOptions {
    /// Joins the domain.
    pub(crate) fn join(&self, py: Python<'_>) -> PyResult<Arc<dyn Participant>> {
        let environment = Environment::read(&|name| std::env::var(name).ok());
        let mut environment = environment.map_err(|error| errors::wire(py, &error))?;
        if let Some(domain) = self.domain {
            environment.domain = domain;
        }
        let joined = py.detach(|| match environment.backend {
            Backend::Dds => self.join_dds(&environment),
            Backend::Zenoh => self.join_zenoh(&environment),
        });
        joined.map_err(|error| errors::wire(py, &error))
    }

    fn join_dds(&self, environment: &Environment) -> timeloom_wire::Result<Arc<dyn Participant>> {
        let options = if self.localhost {
            timeloom_dds::Options::loopback(environment.domain)
        } else {
            timeloom_dds::Options::from(environment)
        };
        Ok(Arc::new(DdsParticipant::new(&options)?))
    }

    #[cfg(feature = "zenoh")]
    fn join_zenoh(&self, environment: &Environment) -> timeloom_wire::Result<Arc<dyn Participant>> {
        /// Where the peers of `rmw_zenoh` look for their router on this machine.
        const LOCAL_ROUTER: &str = "tcp/127.0.0.1:7447";
        let mut options = timeloom_zenoh::Options::from_environment(environment);
        if self.localhost {
            options = options.only_at(LOCAL_ROUTER);
        }
        Ok(Arc::new(timeloom_zenoh::ZenohParticipant::new(&options)?))
    }

    #[cfg(not(feature = "zenoh"))]
    #[expect(clippy::unused_self, reason = "the other build uses it")]
    fn join_zenoh(&self, _: &Environment) -> timeloom_wire::Result<Arc<dyn Participant>> {
        Err(timeloom_wire::Error::Unsupported {
            transport: "this build of the module",
            feature: "Zenoh, which RMW_IMPLEMENTATION asks for",
        })
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
