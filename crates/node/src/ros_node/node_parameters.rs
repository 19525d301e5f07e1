//! The parameters of a node, for its owner.

use std::sync::Arc;

use super::{ParameterAccess, ParameterValue, RosNode};
use crate::{Error, Result};

impl RosNode {
    /// Declares a parameter; returns its value, which may have been set from outside.
    ///
    /// # Errors
    /// When it was set to a value of another type.
    pub fn declare_parameter(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
    ) -> Result<ParameterValue> {
        let access = ParameterAccess::Writable;
        self.declare_parameter_with(name, default, "", access)
    }

    /// Like [`declare_parameter`](Self::declare_parameter), with a description and access.
    ///
    /// # Errors
    /// When it was set to a value of another type.
    pub fn declare_parameter_with(
        &self,
        name: &str,
        default: impl Into<ParameterValue>,
        description: &str,
        access: ParameterAccess,
    ) -> Result<ParameterValue> {
        self.0
            .parameters
            .declare(name, &default.into(), description, access)
    }

    /// The value of a parameter; `None` if it was not declared.
    pub fn parameter(&self, name: &str) -> Option<ParameterValue> {
        let parameters = &self.0.parameters;
        parameters.with(|store| store.get(name).map(|known| known.value.clone()))
    }

    /// Sets a parameter as a peer would. When this returns, the change is effective.
    ///
    /// # Errors
    /// When it was not declared, is read-only, has another type, or a guard refuses it.
    pub fn set_parameter(&self, name: &str, value: impl Into<ParameterValue>) -> Result<()> {
        let wanted = [(name.to_owned(), value.into())];
        self.0
            .parameters
            .set(&wanted)
            .map_err(|reason| Error::Parameter {
                name: name.to_owned(),
                reason,
            })
    }

    /// Checks changes before they are applied: all of one request at a time; an error refuses them.
    pub fn guard_parameters(
        &self,
        guard: impl Fn(&[(String, ParameterValue)]) -> std::result::Result<(), String>
        + Send
        + Sync
        + 'static,
    ) {
        self.0.parameters.add_guard(Arc::new(guard));
    }

    /// Calls back after every change.
    pub fn on_parameter_change(
        &self,
        listener: impl Fn(&str, &ParameterValue) + Send + Sync + 'static,
    ) {
        self.0.parameters.add_listener(Arc::new(listener));
    }
}
