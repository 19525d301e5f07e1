use std::sync::Arc;

use timeloom_msg::{QosProfile, Schema};
use timeloom_time::TimeBase;
use timeloom_wire::Node;

use super::executor::Executor;
use super::rosout::{Logger, Severity};
use super::service::{Handler, Service};
use super::service_types::ServiceTypes;
use super::type_descriptions::{SERVICE, TypeDescriptions};
use crate::Result;

/// `~/get_type_description` of a node on the wire that is not a [`RosNode`](crate::RosNode): for command line tools
/// that publish. Dropping it ends it.
#[derive(Debug)]
pub struct TypeService {
    types: Arc<TypeDescriptions>,
    _service: Service,
}

impl TypeService {
    /// Answers for a node; `base` is its participant's time base.
    ///
    /// # Errors
    /// When the middleware refuses the service, or the operating system cannot start a thread.
    pub fn start(node: &dyn Node, base: &TimeBase) -> Result<Self> {
        let name = node.name().full();
        let executor = Arc::new(Executor::start(base, "type descriptions")?);
        let back = (executor, Logger::new(&name, Severity::Info, base));
        let types = Arc::new(TypeDescriptions::default());
        let known = Arc::clone(&types);
        let handler = Handler::Now(Box::new(move |request| known.answer(request)));
        let service = Service::start(
            node,
            &format!("{name}/get_type_description"),
            ServiceTypes::builtin(SERVICE)?,
            QosProfile::SERVICES,
            handler,
            back,
        )?;
        Ok(Self {
            types,
            _service: service,
        })
    }

    /// Adds a type that the node uses.
    pub fn add(&self, schema: &Arc<Schema>) {
        self.types.add(schema);
    }
}
