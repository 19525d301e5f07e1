//! The parameters of a living node: changes reach its clock, its owner and `/parameter_events`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use timeloom_msg::value::{Array, Struct};
use timeloom_msg::{Definitions, QosProfile, Value};
use timeloom_time::WireTime;
use timeloom_wire::MessageTime;

use super::clock_source::ClockSource;
use super::parameter_store::{Parameter, ParameterAccess, ParameterStore, SetResult};
use super::qos_overrides::{Endpoint, Overridable};
use super::rosout::{Logger, Severity};
use super::time_source_choice::{
    SIM_TIME_CONFLICT, SIM_TIME_SOURCE, TimeSourceChoice, two_sources,
};
use super::typed_publisher::TypedPublisher;
use crate::{Error, Result};
use timeloom_msg::ParameterValue;

/// Whether time comes from `/clock`.
pub(super) const USE_SIM_TIME: &str = "use_sim_time";

/// Names with values, as a request has them.
pub(super) type Assignments = [(String, ParameterValue)];

/// Looks at a change before it is made; refuses it with a reason.
pub(super) type Guard = Arc<dyn Fn(&Assignments) -> SetResult + Send + Sync>;
/// Hears of a change that was made.
pub(super) type Listener = Arc<dyn Fn(&str, &ParameterValue) + Send + Sync>;

pub(super) struct Parameters {
    /// The full name of the node.
    node: String,
    state: Mutex<State>,
    events: Option<TypedPublisher>,
    source: Arc<ClockSource>,
    /// Used unless a parameter overrides it.
    time_source: TimeSourceChoice,
    logger: Logger,
}

#[derive(Default)]
struct State {
    store: ParameterStore,
    guards: Vec<Guard>,
    listeners: Vec<Listener>,
}

/// What a change was, for `/parameter_events`.
#[derive(Clone, Copy)]
enum Change {
    New,
    Changed,
}

impl Parameters {
    pub(super) fn new(
        node: String,
        events: Option<TypedPublisher>,
        source: Arc<ClockSource>,
        time_source: TimeSourceChoice,
        logger: Logger,
    ) -> Self {
        Self {
            node,
            state: Mutex::default(),
            events,
            source,
            time_source,
            logger,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads under the lock.
    pub(super) fn with<T>(&self, read: impl FnOnce(&ParameterStore) -> T) -> T {
        read(&self.state().store)
    }

    /// Declares a parameter; gives the value it has, which another may have set before.
    pub(super) fn declare(
        &self,
        name: &str,
        value: &ParameterValue,
        description: &str,
        access: ParameterAccess,
    ) -> Result<ParameterValue> {
        let parameter = Parameter {
            value: value.clone(),
            description: description.to_owned(),
            access,
        };
        let is_new = self.state().store.declare(name, parameter);
        let current = self.with(|store| store.get(name).map(|known| known.value.clone()));
        let current = current.unwrap_or(ParameterValue::NotSet);
        if current.type_number() != value.type_number() {
            let reason = format!(
                "expected {1}, found {0}",
                current.type_name(),
                value.type_name()
            );
            return Err(Error::Parameter {
                name: name.to_owned(),
                reason,
            });
        }
        if is_new {
            self.publish_event(Change::New, &[(name.to_owned(), current.clone())]);
        }
        Ok(current)
    }

    /// Sets all or none of them.
    pub(super) fn set(&self, wanted: &Assignments) -> SetResult {
        let guards = {
            let state = self.state();
            for (name, value) in wanted {
                state.store.check(name, value)?;
            }
            state.guards.clone()
        };
        for guard in guards {
            guard(wanted)?;
        }
        let (changed, before) = {
            let mut state = self.state();
            let value = |store: &ParameterStore, name: &str| Some(store.get(name)?.value.clone());
            let before: Vec<_> = wanted
                .iter()
                .filter_map(|(name, _)| Some((name.clone(), value(&state.store, name)?)))
                .collect();
            let mut changed = wanted.to_vec();
            changed.retain(|(name, value)| state.store.set(name, value));
            (changed, before)
        };
        if changed.iter().any(|(name, _)| is_of_time(name))
            && let Err(error) = self.follow_time()
        {
            // Nothing has changed: then the parameters have not either.
            for (name, value) in &before {
                self.state().store.set(name, value);
            }
            return Err(error.to_string());
        }
        self.publish_event(Change::Changed, &changed);
        Ok(())
    }

    /// Sets up the clock by the parameters, and by the node's options where there are none.
    pub(super) fn follow_time(&self) -> Result<()> {
        let value = |name: &str| self.with(|store| Some(store.get(name)?.value.clone()));
        let wrong = |name: &str| {
            let name = name.to_owned();
            move |reason| Error::Parameter { name, reason }
        };
        let choice = match value(SIM_TIME_SOURCE) {
            Some(value) => TimeSourceChoice::of(&value).map_err(wrong(SIM_TIME_SOURCE))?,
            None => self.time_source,
        };
        let conflict = value(SIM_TIME_CONFLICT)
            .map(|value| two_sources(&value).map_err(wrong(SIM_TIME_CONFLICT)))
            .transpose()?;
        let on = value(USE_SIM_TIME) == Some(ParameterValue::Bool(true));
        let qos = on.then(|| self.clock_qos()).transpose()?;
        self.source.set(qos, choice)?;
        if let Some(policy) = conflict {
            self.source.hub().set_two_sources(policy);
        }
        Ok(())
    }

    /// The `QoS` of the clock by the parameters, which are declared with the first call.
    fn clock_qos(&self) -> Result<QosProfile> {
        let mut qos = QosProfile::CLOCK;
        for policy in Overridable::ALL {
            let name = policy.parameter(self.source.topic(), Endpoint::Subscription);
            let (description, access) = ("Set before the start", ParameterAccess::ReadOnly);
            let value = self.declare(&name, &policy.of(&qos), description, access)?;
            policy
                .apply(&mut qos, &value)
                .map_err(|reason| Error::Parameter { name, reason })?;
        }
        Ok(qos)
    }

    pub(super) fn add_guard(&self, guard: Guard) {
        self.state().guards.push(guard);
    }

    pub(super) fn add_listener(&self, listener: Listener) {
        self.state().listeners.push(listener);
    }

    /// Tells the owner and the world, with no lock held.
    fn publish_event(&self, change: Change, parameters: &Assignments) {
        if parameters.is_empty() {
            return;
        }
        let listeners = self.state().listeners.clone();
        for (name, value) in parameters {
            for listener in &listeners {
                listener(name, value);
            }
        }
        if let Some(events) = &self.events {
            let sent = self
                .event(events, change, parameters)
                .and_then(|event| events.publish(&event));
            if let Err(error) = sent {
                let text = format!("can't publish on /parameter_events: {error}");
                self.logger.log(Severity::Warn, &text);
            }
        }
    }

    fn event(
        &self,
        events: &TypedPublisher,
        change: Change,
        parameters: &Assignments,
    ) -> Result<Value> {
        let mut event = events.message()?;
        event.set_time(
            "stamp",
            WireTime::saturating_from(self.source.clock().now()),
        )?;
        event.set("node", self.node.as_str())?;
        let field = match change {
            Change::New => "new_parameters",
            Change::Changed => "changed_parameters",
        };
        event.set(field, parameter_messages(parameters)?)?;
        Ok(event)
    }
}

/// Whether a parameter selects the source of time.
fn is_of_time(name: &str) -> bool {
    [USE_SIM_TIME, SIM_TIME_SOURCE, SIM_TIME_CONFLICT].contains(&name)
}

/// Parameters as `rcl_interfaces/msg/Parameter`.
fn parameter_messages(parameters: &Assignments) -> Result<Array> {
    let schema = Definitions::builtin().schema("rcl_interfaces/msg/Parameter")?;
    let message = |(name, value): &(String, ParameterValue)| -> Result<Struct> {
        let values = vec![Value::from(name.as_str()), value.to_value()?];
        Ok(Struct::new(Arc::clone(schema.root()), values))
    };
    let messages = parameters.iter().map(message).collect::<Result<_>>()?;
    Ok(Array::Struct(messages))
}
