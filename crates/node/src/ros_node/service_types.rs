use std::sync::Arc;

use timeloom_msg::{Definitions, QosProfile, Schema, TypeHash, TypeName};
use timeloom_wire::ServiceSpec;

use crate::{Error, Result};

/// The layouts of a service, and its description on the wire.
#[derive(Clone, Debug)]
pub struct ServiceTypes {
    /// The name of the service type, such as `std_srvs/srv/SetBool`.
    pub name: TypeName,
    /// The layout of a request.
    pub request: Arc<Schema>,
    /// The layout of a response.
    pub response: Arc<Schema>,
    whole: Option<Arc<Schema>>,
}

impl ServiceTypes {
    /// The layouts of a built-in service type.
    ///
    /// # Errors
    /// When the name is not a service type, or the type is not built in.
    pub fn builtin(type_name: &str) -> Result<Self> {
        Self::find(type_name, |part| {
            Ok::<_, Error>(Definitions::builtin().schema(part)?)
        })
    }

    /// The layouts of a service type, each from `lookup`.
    ///
    /// # Errors
    /// When the name is not a service type, or `lookup` does not know one of the parts.
    pub fn find<E: From<Error>>(
        type_name: &str,
        mut lookup: impl FnMut(&str) -> std::result::Result<Schema, E>,
    ) -> std::result::Result<Self, E> {
        let name = TypeName::parse(type_name).map_err(Error::from)?;
        if !name.is_service() {
            return Err(Error::NoService {
                type_name: name.to_string(),
            }
            .into());
        }
        let whole = lookup(type_name)?;
        Ok(Self {
            request: Arc::new(lookup(&format!("{name}_Request"))?),
            response: Arc::new(lookup(&format!("{name}_Response"))?),
            whole: Some(Arc::new(whole)),
            name,
        })
    }

    /// The layouts of the service that a schema belongs to: the service itself, or its events.
    ///
    /// # Errors
    /// When the schema is not that of a service or of its events.
    pub fn of_schema(schema: &Schema) -> Result<Self> {
        let name = schema.name();
        let service = name.without_suffix("_Event");
        let service = service.as_ref().unwrap_or(name).to_string();
        Self::find(&service, |part| Ok::<_, Error>(schema.related(part)?))
    }

    /// The description on the wire, to serve or to call the service of that full name.
    pub fn spec(&self, service: &str, qos: QosProfile) -> ServiceSpec {
        let hash = |schema: &Arc<Schema>| -> Option<TypeHash> { schema.type_hash().ok() };
        ServiceSpec {
            name: service.to_owned(),
            type_name: self.name.clone(),
            type_hash: self.whole.as_ref().and_then(hash),
            request_hash: hash(&self.request),
            response_hash: hash(&self.response),
            qos,
        }
    }

    /// All layouts that a peer may query.
    pub(super) fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        [&self.request, &self.response]
            .into_iter()
            .chain(&self.whole)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_has_three_hashes() {
        let types = ServiceTypes::builtin("std_srvs/srv/SetBool").unwrap();
        let spec = types.spec("/x", QosProfile::SERVICES);
        let hashes = [spec.type_hash, spec.request_hash, spec.response_hash];
        assert!(hashes.iter().all(Option::is_some));
        assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
    }

    #[test]
    fn the_events_of_a_service_or_an_action_define_all_of_it() {
        for name in [
            "std_srvs/srv/SetBool",
            "example_interfaces/action/Fibonacci_SendGoal",
        ] {
            let whole = ServiceTypes::builtin(name).unwrap();
            let event = Definitions::builtin().schema(&format!("{name}_Event"));
            let of_event = ServiceTypes::of_schema(&event.unwrap()).unwrap();
            let spec = |types: &ServiceTypes| types.spec("/x", QosProfile::SERVICES);
            assert_eq!(spec(&of_event), spec(&whole));
        }
        let message = Definitions::builtin().schema("std_msgs/msg/String");
        assert!(ServiceTypes::of_schema(&message.unwrap()).is_err());
    }

    #[test]
    fn a_message_is_not_a_service() {
        let error = ServiceTypes::builtin("std_msgs/msg/String").unwrap_err();
        assert_eq!(
            error.to_string(),
            "std_msgs/msg/String is not a service type"
        );
        assert!(ServiceTypes::builtin("no/srv/Such").is_err());
    }
}
