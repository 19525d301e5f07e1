//! The parameters of another node, by its parameter services.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, ParameterValue, QosProfile, Value};
use timeloom_time::{Duration, TimeBase};
use timeloom_wire::backend::lock;
use timeloom_wire::{CallStopper, Node};

use super::client::Client;
use super::service_types::ServiceTypes;
use crate::{Error, Result};

/// The type of the service that a node with parameters has.
pub(crate) const LIST_PARAMETERS: &str = "rcl_interfaces/srv/ListParameters";

/// A parameter of another node.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoteParameter {
    /// The value.
    pub value: ParameterValue,
    /// The description that the node gives; may be empty.
    pub description: String,
    /// Whether the node refuses changes.
    pub read_only: bool,
}

/// The parameters of a node, or why there are none.
type Answer = std::result::Result<BTreeMap<String, RemoteParameter>, String>;

/// Number of nodes that are queried at a time.
const MOST_THREADS: usize = 4;

/// Reads and sets the parameters of other nodes, and blocks for their answers.
///
/// Clones share one [`stop`](Self::stop). Do not use it inside of a receiver of the same participant.
///
/// ```no_run
/// use std::sync::Arc;
/// use timeloom_node::{NodeOptions, RemoteParameters, RosNode};
/// use timeloom_time::{Duration, TimeBase};
/// use timeloom_wire::loopback::LoopbackNetwork;
///
/// let base = TimeBase::machine();
/// let network = LoopbackNetwork::new(&base);
/// let node = RosNode::new(network.participant("me")?, NodeOptions::new("me"))?;
/// let remote = RemoteParameters::new(Arc::clone(node.wire()), &base, Duration::from_secs(3));
/// for (name, parameter) in remote.read("/camera")? {
///     println!("{name}: {parameter:?}");
/// }
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct RemoteParameters {
    node: Arc<dyn Node>,
    base: TimeBase,
    timeout: Duration,
    stop: Arc<Mutex<Stop>>,
}

#[derive(Default)]
struct Stop {
    stopped: bool,
    /// The calls that are under way, by number.
    calls: BTreeMap<u64, CallStopper>,
    next: u64,
}

impl RemoteParameters {
    /// Asks as this node; each service may take `timeout` to be found, and again to answer.
    pub fn new(node: Arc<dyn Node>, base: &TimeBase, timeout: Duration) -> Self {
        Self {
            node,
            base: base.clone(),
            timeout,
            stop: Arc::default(),
        }
    }

    /// Ends all calls, now and in future.
    pub fn stop(&self) {
        let mut stop = lock(&self.stop);
        stop.stopped = true;
        for stopper in stop.calls.values() {
            stopper.stop();
        }
    }

    /// The parameters of the node of that full name.
    ///
    /// # Errors
    /// When the node has no parameter services, does not answer in time, or answers what makes no sense.
    pub fn read(&self, peer: &str) -> Result<BTreeMap<String, RemoteParameter>> {
        let response = self.call(peer, "list_parameters", LIST_PARAMETERS, |_| Ok(()))?;
        let names = texts(response.get("result.names"));
        if names.is_empty() {
            return Ok(BTreeMap::new());
        }
        let values = self.values(peer, &names)?;
        let mut all: BTreeMap<String, RemoteParameter> = values
            .into_iter()
            .map(|(name, value)| {
                let parameter = RemoteParameter {
                    value,
                    description: String::new(),
                    read_only: false,
                };
                (name, parameter)
            })
            .collect();
        self.describe(peer, &mut all)?;
        Ok(all)
    }

    /// The parameters of several nodes, some of them at the same time; a reason for those that do not answer.
    pub fn read_all(&self, peers: &[String]) -> BTreeMap<String, Answer> {
        let waiting = Arc::new(Mutex::new(peers.to_vec()));
        let answers = Arc::new(Mutex::new(BTreeMap::new()));
        let work = || {
            let (remote, waiting) = (self.clone(), Arc::clone(&waiting));
            let answers = Arc::clone(&answers);
            self.base.spawn("parameters", move || {
                loop {
                    let Some(peer) = lock(&waiting).pop() else {
                        return;
                    };
                    let answer = remote.read(&peer).map_err(|error| error.to_string());
                    lock(&answers).insert(peer, answer);
                }
            })
        };
        let threads: Vec<_> = (0..MOST_THREADS.min(peers.len())).map(|_| work()).collect();
        for thread in threads.into_iter().flatten() {
            // After a panic, the node has no answer.
            let _panicked = thread.join();
        }
        let mut answers = std::mem::take(&mut *lock(&answers));
        for peer in peers {
            let missing = || Err("it was not queried".to_owned());
            answers.entry(peer.clone()).or_insert_with(missing);
        }
        answers
    }

    /// The values of parameters. A node answers a request for several with nothing if one of them has gone; then each
    /// is asked for alone.
    fn values(&self, peer: &str, names: &[String]) -> Result<Vec<(String, ParameterValue)>> {
        let values = self.get(peer, names)?;
        if values.len() == names.len() {
            return Ok(names.iter().cloned().zip(values).collect());
        }
        let mut found = Vec::new();
        for name in names {
            let value = self
                .get(peer, std::slice::from_ref(name))?
                .into_iter()
                .next();
            found.extend(value.map(|value| (name.clone(), value)));
        }
        Ok(found)
    }

    fn get(&self, peer: &str, names: &[String]) -> Result<Vec<ParameterValue>> {
        let type_name = "rcl_interfaces/srv/GetParameters";
        let response = self.call(peer, "get_parameters", type_name, |request| {
            Ok(request.set("names", text_array(names))?)
        })?;
        let values = structs(response.get("values"));
        let values: Option<Vec<_>> = values.iter().map(ParameterValue::from_message).collect();
        values.ok_or_else(|| unreadable(peer, "values"))
    }

    /// Adds what the node says of its parameters. One that does not describe them has values all the same.
    fn describe(&self, peer: &str, all: &mut BTreeMap<String, RemoteParameter>) -> Result<()> {
        let names: Vec<String> = all.keys().cloned().collect();
        let type_name = "rcl_interfaces/srv/DescribeParameters";
        let response = self.call(peer, "describe_parameters", type_name, |request| {
            Ok(request.set("names", text_array(&names))?)
        })?;
        for descriptor in structs(response.get("descriptors")) {
            let name = descriptor.get("name").and_then(Value::as_str);
            let Some(parameter) = name.and_then(|name| all.get_mut(name)) else {
                continue;
            };
            parameter.read_only = matches!(descriptor.get("read_only"), Some(Value::Bool(true)));
            let description = descriptor.get("description").and_then(Value::as_str);
            description
                .unwrap_or_default()
                .clone_into(&mut parameter.description);
        }
        Ok(())
    }

    /// Sets parameters one by one; for each of them, `Ok` or the reason of the node.
    ///
    /// # Errors
    /// When the node does not answer; whether it has set any is not known then.
    pub fn set(
        &self,
        peer: &str,
        wanted: &[(String, ParameterValue)],
    ) -> Result<Vec<std::result::Result<(), String>>> {
        let schema = Definitions::builtin().schema("rcl_interfaces/msg/Parameter")?;
        let mut messages = Vec::with_capacity(wanted.len());
        for (name, value) in wanted {
            let values = vec![Value::from(name.as_str()), value.to_value()?];
            messages.push(Struct::new(Arc::clone(schema.root()), values));
        }
        let type_name = "rcl_interfaces/srv/SetParameters";
        let response = self.call(peer, "set_parameters", type_name, |request| {
            Ok(request.set("parameters", Array::Struct(messages))?)
        })?;
        let results = structs(response.get("results"));
        if results.len() != wanted.len() {
            return Err(unreadable(peer, "results"));
        }
        let result = |result: &Struct| {
            if result.get("successful") == Some(&Value::Bool(true)) {
                return Ok(());
            }
            let reason = result.get("reason").and_then(Value::as_str);
            let reason = reason.filter(|reason| !reason.is_empty());
            Err(reason.unwrap_or("no reason given").to_owned())
        };
        Ok(results.iter().map(result).collect())
    }

    fn call(
        &self,
        peer: &str,
        service: &str,
        type_name: &str,
        fill: impl FnOnce(&mut Value) -> Result<()>,
    ) -> Result<Value> {
        let types = ServiceTypes::builtin(type_name)?;
        let name = format!("{}/{service}", peer.trim_end_matches('/'));
        let client = Client::new(
            &*self.node,
            &name,
            types,
            QosProfile::PARAMETERS,
            &self.base,
        )?;
        let mut request = client.request()?;
        fill(&mut request)?;
        let number = self.begin(&client)?;
        let response = if client.wait_for_server(self.timeout) {
            client.call(&request, self.timeout)
        } else {
            let timeout = self.timeout;
            let reason = format!("no server of {name} was found within {timeout}");
            Err(Error::Failed { reason })
        };
        lock(&self.stop).calls.remove(&number);
        response
    }

    fn begin(&self, client: &Client) -> Result<u64> {
        let mut stop = lock(&self.stop);
        if stop.stopped {
            let reason = "stopped before it was queried".to_owned();
            return Err(Error::Failed { reason });
        }
        let number = stop.next;
        stop.next += 1;
        stop.calls.insert(number, client.stopper());
        Ok(number)
    }
}

impl std::fmt::Debug for RemoteParameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "RemoteParameters(as {})", self.node.name())
    }
}

fn unreadable(peer: &str, field: &str) -> Error {
    let reason = format!("the answer of {peer} has no usable field {field}");
    Error::Failed { reason }
}

fn text_array(items: &[String]) -> Array {
    Array::String(items.iter().map(|item| Text::from(item.as_str())).collect())
}

fn texts(value: Option<Value>) -> Vec<String> {
    match value {
        Some(Value::Array(Array::String(items))) => items
            .iter()
            .map(|item| item.to_string_lossy().into_owned())
            .collect(),
        _ => Vec::new(),
    }
}

fn structs(value: Option<Value>) -> Vec<Struct> {
    match value {
        Some(Value::Array(Array::Struct(items))) => items,
        _ => Vec::new(),
    }
}
