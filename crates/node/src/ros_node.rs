//! A ROS node over any transport: names, parameters, time, logging, types.

mod client;
mod clock_source;
mod executor;
mod names;
mod node_options;
mod node_parameters;
mod parameter_file;
mod parameter_services;
mod parameter_store;
mod parameters;
mod qos_overrides;
mod remap;
mod remote_parameters;
mod ros_arguments;
mod rosout;
mod service;
mod service_types;
mod time_source_choice;
mod timer;
mod type_descriptions;
mod type_service;
mod typed_publisher;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use timeloom_msg::{Definitions, QosProfile, Schema, Value};
use timeloom_time::{Clock, Ros, TimeHub, TimeSource};
use timeloom_wire::backend::lock;
use timeloom_wire::{Node, NodeName, Participant, TopicSpec};

pub use client::Client;
pub use names::Names;
pub use node_options::NodeOptions;
pub use parameter_store::ParameterAccess;
pub use remap::Remap;
pub(crate) use remote_parameters::LIST_PARAMETERS;
pub use remote_parameters::{RemoteParameter, RemoteParameters};
pub use ros_arguments::RosArguments;
pub use rosout::Severity;
pub use service::{Responder, Service};
pub use service_types::ServiceTypes;
pub use time_source_choice::TimeSourceChoice;
pub use timeloom_msg::ParameterValue;
pub use timer::NodeTimer;
pub(crate) use type_descriptions::SERVICE as DESCRIBE;
pub use type_service::TypeService;
pub use typed_publisher::TypedPublisher;

use clock_source::{ClockSource, DeferredLogger};
use executor::Executor;
use parameters::{Parameters, USE_SIM_TIME};
use qos_overrides::{Endpoint, Overridable, publisher_qos};
use rosout::Logger;
use service::Handler;
use type_descriptions::TypeDescriptions;

use crate::Result;

/// The topic of parameter changes.
const PARAMETER_EVENTS: &str = "/parameter_events";
/// The parameter of the type description service.
const TYPE_SERVICE: &str = "start_type_description_service";

/// A ROS node over any transport: the equivalent of `rclcpp::Node`, without generated types.
///
/// It has the parameter services, `/parameter_events`, `/rosout`, `~/get_type_description`, and a clock that follows
/// `/clock` while `use_sim_time` is true.
///
/// Service handlers run on one thread of the node, one after the other, never on the receive thread
/// ([`serve_deferred`](Self::serve_deferred) is for handlers that respond later). A node is cheap to clone; it ends with
/// the last clone, except for the services and publishers that are still held.
///
/// ```
/// use timeloom_msg::QosProfile;
/// use timeloom_node::{NodeOptions, RosNode};
/// use timeloom_time::VirtualTime;
/// use timeloom_wire::loopback::LoopbackNetwork;
///
/// let time = VirtualTime::new();
/// let _here = time.enter();
/// let network = LoopbackNetwork::new(&time.base());
/// let node = RosNode::new(network.participant("me")?, NodeOptions::new("talker"))?;
/// let chatter = node.publisher("~/chatter", "std_msgs/msg/String", QosProfile::DEFAULT)?;
/// let mut message = chatter.message()?;
/// message.set("data", "hello")?;
/// chatter.publish(&message)?;
/// assert_eq!(node.resolve_topic("~/chatter")?, "/talker/chatter");
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RosNode(Arc<Inner>);

/// Logs a warning.
pub(crate) type Warnings = Box<dyn Fn(&str) + Send + Sync>;

struct Inner {
    // In the order of their end.
    own_services: Mutex<Vec<Service>>,
    source: Arc<ClockSource>,
    executor: Arc<Executor>,
    parameters: Arc<Parameters>,
    logger: Logger,
    types: Arc<TypeDescriptions>,
    hub: TimeHub,
    names: Names,
    node: Arc<dyn Node>,
    participant: Arc<dyn Participant>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // A clock that is still in use must not be stopped forever.
        let _off = self.source.set(None, TimeSourceChoice::Default);
    }
}

impl RosNode {
    /// A node on a participant.
    ///
    /// # Errors
    /// When a name or rule is invalid, a parameter has the wrong type, or the middleware fails.
    pub fn new(participant: Arc<dyn Participant>, options: NodeOptions) -> Result<Self> {
        let names = Names::new(&options)?;
        let name = names.node().clone();
        let node = participant.node(name.clone())?;
        let base = participant.time_base();
        let executor = Arc::new(Executor::start(&base, &format!("node {}", name.name()))?);
        let logger = Logger::new(&name.full(), options.log_level, &base);
        let types = Arc::new(TypeDescriptions::default());
        let topic = |topic: &str| names.topic(topic);
        let publish =
            |full: String, type_name: &str, qos| publish(&*node, &types, full, type_name, qos);
        if options.rosout {
            let full = topic("/rosout")?;
            logger.publish_on(publish(full, "rcl_interfaces/msg/Log", QosProfile::ROSOUT)?);
        }
        let hub = TimeHub::with_options(&base, options.time_hub);
        let deferred = DeferredLogger {
            jobs: executor.queue().clone(),
            logger: logger.clone(),
        };
        let source = Arc::new(ClockSource::new(
            Arc::clone(&participant),
            Arc::clone(&node),
            topic("/clock")?,
            hub.clone(),
            deferred,
        ));
        let mut events_qos = None;
        let events = if options.parameter_services {
            let full = topic(PARAMETER_EVENTS)?;
            let event = "rcl_interfaces/msg/ParameterEvent";
            let qos = publisher_qos(QosProfile::PARAMETERS, &full, &options.parameters)?;
            events_qos = Some((full.clone(), qos));
            Some(publish(full, event, qos)?)
        } else {
            None
        };
        let parameters = Arc::new(Parameters::new(
            name.full(),
            events,
            Arc::clone(&source),
            options.time_source,
            logger.clone(),
        ));
        let made = Self(Arc::new(Inner {
            own_services: Mutex::default(),
            source,
            executor,
            parameters,
            logger,
            types,
            hub,
            names,
            node,
            participant,
        }));
        made.declare_own(options.parameters, options.use_sim_time)?;
        if let Some((topic, qos)) = events_qos {
            made.declare_publisher_qos(&topic, &qos)?;
        }
        if options.parameter_services {
            made.serve_parameters()?;
        }
        if made.declare_type_service(options.type_description)? {
            made.serve_types()?;
        }
        Ok(made)
    }

    fn declare_own(
        &self,
        parameters: BTreeMap<String, ParameterValue>,
        use_sim_time: bool,
    ) -> Result<()> {
        for (name, value) in parameters {
            self.declare_parameter(&name, value)?;
        }
        let text = "Whether time comes from /clock";
        let access = ParameterAccess::Writable;
        self.declare_parameter_with(USE_SIM_TIME, use_sim_time, text, access)?;
        self.0.parameters.follow_time()
    }

    /// Declares the `QoS` of a publisher as parameters.
    fn declare_publisher_qos(&self, topic: &str, qos: &QosProfile) -> Result<()> {
        for policy in Overridable::ALL {
            let name = policy.parameter(topic, Endpoint::Publisher);
            let access = ParameterAccess::ReadOnly;
            self.declare_parameter_with(&name, policy.of(qos), "Set before the start", access)?;
        }
        Ok(())
    }

    /// Whether the node has the type description service: the option, unless the parameter overrides it.
    fn declare_type_service(&self, asked: bool) -> Result<bool> {
        let text = "Whether the node answers ~/get_type_description; set before the start";
        let access = ParameterAccess::ReadOnly;
        let value = self.declare_parameter_with(TYPE_SERVICE, asked, text, access)?;
        Ok(value == ParameterValue::Bool(true))
    }

    fn serve_parameters(&self) -> Result<()> {
        for (name, type_name, handler) in parameter_services::handlers(&self.0.parameters)? {
            let types = ServiceTypes::builtin(type_name)?;
            let handler = Handler::Now(handler);
            self.keep(self.start(name, types, QosProfile::PARAMETERS, handler)?);
        }
        Ok(())
    }

    fn serve_types(&self) -> Result<()> {
        let known = Arc::clone(&self.0.types);
        let handler = Handler::Now(Box::new(move |request| known.answer(request)));
        let types = ServiceTypes::builtin(type_descriptions::SERVICE)?;
        let name = "~/get_type_description";
        self.keep(self.start(name, types, QosProfile::SERVICES, handler)?);
        Ok(())
    }

    fn keep(&self, service: Service) {
        lock(&self.0.own_services).push(service);
    }

    /// The node on the wire, for raw endpoints.
    pub fn wire(&self) -> &Arc<dyn Node> {
        &self.0.node
    }

    /// Its participant.
    pub fn participant(&self) -> &Arc<dyn Participant> {
        &self.0.participant
    }

    /// Its name, after remapping.
    pub fn name(&self) -> &NodeName {
        self.0.names.node()
    }

    /// Its name, and the rules that expand names.
    pub fn names(&self) -> &Names {
        &self.0.names
    }

    /// The full name of a topic (`chatter`, `~/status`, `/tf`), after remapping.
    ///
    /// # Errors
    /// When it is not a valid ROS name.
    pub fn resolve_topic(&self, name: &str) -> Result<String> {
        self.0.names.topic(name)
    }

    /// The full name of a service, after remapping.
    ///
    /// # Errors
    /// When it is not a valid ROS name.
    pub fn resolve_service(&self, name: &str) -> Result<String> {
        self.0.names.service(name)
    }

    /// Its clock: the machine's time, or that of `/clock` while `use_sim_time` is true.
    ///
    /// A [`TimeHub`] with another source may [attach](TimeHub::attach) it and then steers it.
    pub fn clock(&self) -> Clock<Ros> {
        self.0.source.clock().clone()
    }

    /// The hub of `/clock`, or of a [source of the node's own](Self::set_time_source); other clocks may be attached.
    pub fn time_hub(&self) -> &TimeHub {
        &self.0.hub
    }

    /// Replaces `/clock` by another source of time: shared memory, a socket, a simulator in this process. `None` for
    /// `/clock` again. As before, the clock follows it while `use_sim_time` is true.
    ///
    /// For all nodes of a process at once, set a source on [`TimeHub::process`] before they are created.
    ///
    /// # Errors
    /// When the source cannot start; then the node follows `/clock`.
    pub fn set_time_source(&self, source: Option<Box<dyn TimeSource>>) -> Result<()> {
        self.0.source.set_own(source)
    }

    /// Logs warnings of the node, without keeping it alive.
    pub(crate) fn warnings(&self) -> Warnings {
        let logger = self.0.logger.clone();
        Box::new(move |text| logger.log(Severity::Warn, text))
    }

    /// Logs on `/rosout` and to the [reporter](Self::set_reporter). Blocks as a publisher does.
    pub fn log(&self, severity: Severity, text: &str) {
        self.0.logger.log(severity, text);
    }

    /// Sets the callback for log messages beside `/rosout`. It is called on any thread and must return quickly.
    pub fn set_reporter(&self, report: impl Fn(Severity, &str) + Send + Sync + 'static) {
        self.0.logger.set_reporter(Arc::new(report));
    }

    /// Answers a service of a built-in type until the returned handle is dropped.
    ///
    /// The handler runs on the node's own thread. When it fails or panics, nothing is answered and the reason is
    /// logged. Do not keep the handle inside its own handler.
    ///
    /// # Errors
    /// When the name or the type is not valid, or the middleware refuses it.
    pub fn serve(
        &self,
        name: &str,
        type_name: &str,
        handler: impl Fn(&Value) -> Result<Value> + Send + Sync + 'static,
    ) -> Result<Service> {
        let types = ServiceTypes::builtin(type_name)?;
        let handler = Handler::Now(Box::new(handler));
        self.start(name, types, QosProfile::SERVICES, handler)
    }

    /// Like [`serve`](Self::serve), for any type and `QoS`.
    ///
    /// # Errors
    /// When the name is not valid, or the middleware refuses it.
    pub fn serve_with(
        &self,
        name: &str,
        types: ServiceTypes,
        qos: QosProfile,
        handler: impl Fn(&Value) -> Result<Value> + Send + Sync + 'static,
    ) -> Result<Service> {
        self.start(name, types, qos, Handler::Now(Box::new(handler)))
    }

    /// Like [`serve_with`](Self::serve_with), for slow answers: the handler gets each request, and a [`Responder`] to
    /// answer it later, from any thread. A request that cannot be decoded is `None`.
    ///
    /// The handler runs on the thread that receives: it must not block. Dropping the handle sends the answers that were
    /// given before.
    ///
    /// # Errors
    /// When the name is not valid, or the middleware refuses it.
    pub fn serve_deferred(
        &self,
        name: &str,
        types: ServiceTypes,
        qos: QosProfile,
        handler: impl Fn(Option<&Value>, Responder) + Send + Sync + 'static,
    ) -> Result<Service> {
        self.start(name, types, qos, Handler::Deferred(Box::new(handler)))
    }

    fn start(
        &self,
        name: &str,
        types: ServiceTypes,
        qos: QosProfile,
        handler: Handler,
    ) -> Result<Service> {
        let full = self.resolve_service(name)?;
        for schema in types.schemas() {
            self.register_type(schema);
        }
        let back = (Arc::clone(&self.0.executor), self.0.logger.clone());
        Service::start(&*self.0.node, &full, types, qos, handler, back)
    }

    /// Calls a service of a built-in type.
    ///
    /// # Errors
    /// When the name or the type is not valid, or the middleware refuses it.
    pub fn client(&self, name: &str, type_name: &str) -> Result<Client> {
        let types = ServiceTypes::builtin(type_name)?;
        self.client_with(name, types, QosProfile::SERVICES)
    }

    /// Like [`client`](Self::client), for any type and `QoS`.
    ///
    /// # Errors
    /// When the name is not valid, or the middleware refuses it.
    pub fn client_with(&self, name: &str, types: ServiceTypes, qos: QosProfile) -> Result<Client> {
        let full = self.resolve_service(name)?;
        for schema in types.schemas() {
            self.register_type(schema);
        }
        let base = self.0.participant.time_base();
        Client::new(&*self.0.node, &full, types, qos, &base)
    }

    /// Publishes values of a built-in type.
    ///
    /// # Errors
    /// When the name or the type is not valid, or the middleware refuses it.
    pub fn publisher(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
    ) -> Result<TypedPublisher> {
        let full = self.resolve_topic(topic)?;
        publish(&*self.0.node, &self.0.types, full, type_name, qos)
    }

    /// Adds a type of a raw endpoint to `~/get_type_description`; typed endpoints do so themselves.
    pub fn register_type(&self, schema: &Arc<Schema>) {
        self.0.types.add(schema);
    }
}

impl std::fmt::Debug for RosNode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RosNode({})", self.0.names.node())
    }
}

fn publish(
    node: &dyn Node,
    types: &TypeDescriptions,
    full: String,
    type_name: &str,
    qos: QosProfile,
) -> Result<TypedPublisher> {
    let schema = Arc::new(Definitions::builtin().schema(type_name)?);
    types.add(&schema);
    let spec = TopicSpec {
        name: full,
        type_name: schema.name().clone(),
        type_hash: schema.type_hash().ok(),
        qos,
    };
    Ok(TypedPublisher::new(node.publish(&spec)?, schema))
}
