//! The services by which others see and change parameters: from a request to its answer.

use std::sync::Arc;

use timeloom_msg::value::{Array, Struct, Text};
use timeloom_msg::{Definitions, Schema, Value};

use super::parameter_store::{Parameter, ParameterAccess, SetResult};
use super::parameters::Parameters;
use super::service::RequestHandlerFn;
use crate::{Error, Result};
use timeloom_msg::ParameterValue;

type Answer = fn(&Parameters, &Value, &mut Value) -> Result<()>;

/// Each service: its name, its type, and how it answers.
const SERVICES: [(&str, &str, Answer); 6] = [
    ("~/get_parameters", "rcl_interfaces/srv/GetParameters", get),
    (
        "~/get_parameter_types",
        "rcl_interfaces/srv/GetParameterTypes",
        types,
    ),
    ("~/set_parameters", "rcl_interfaces/srv/SetParameters", set),
    (
        "~/set_parameters_atomically",
        "rcl_interfaces/srv/SetParametersAtomically",
        set_atomically,
    ),
    (
        "~/describe_parameters",
        "rcl_interfaces/srv/DescribeParameters",
        describe,
    ),
    (
        "~/list_parameters",
        "rcl_interfaces/srv/ListParameters",
        list,
    ),
];

/// The services with their handlers.
pub(super) fn handlers(
    parameters: &Arc<Parameters>,
) -> Result<Vec<(&'static str, &'static str, RequestHandlerFn)>> {
    let handler = |(name, type_name, answer): (&'static str, &'static str, Answer)| {
        let parameters = Arc::clone(parameters);
        let response = builtin(&format!("{type_name}_Response"))?.default_value()?;
        let handler: RequestHandlerFn = Box::new(move |request| {
            let mut response = response.clone();
            answer(&parameters, request, &mut response)?;
            Ok(response)
        });
        Ok((name, type_name, handler))
    };
    SERVICES.into_iter().map(handler).collect()
}

fn builtin(name: &str) -> Result<Schema> {
    Ok(Definitions::builtin().schema(name)?)
}

fn get(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let known = known(parameters, &names(request, "names"));
    let values = known.iter().map(|(_, parameter)| {
        let value = parameter.value.to_value()?;
        value
            .as_struct()
            .cloned()
            .ok_or_else(|| malformed("values"))
    });
    let values = values.collect::<Result<_>>()?;
    Ok(response.set("values", Array::Struct(values))?)
}

fn types(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let known = known(parameters, &names(request, "names"));
    let types = known
        .iter()
        .map(|(_, parameter)| parameter.value.type_number())
        .collect();
    Ok(response.set("types", Array::Uint8(types))?)
}

fn describe(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let schema = builtin("rcl_interfaces/msg/ParameterDescriptor")?;
    let known = known(parameters, &names(request, "names"));
    let descriptors = known.iter().map(|(name, parameter)| {
        let mut message = schema.default_value()?;
        message.set("name", name.as_str())?;
        message.set("type", parameter.value.type_number())?;
        message.set("description", parameter.description.as_str())?;
        let read_only = parameter.access == ParameterAccess::ReadOnly;
        message.set("read_only", read_only)?;
        let message = message.as_struct().cloned();
        message.ok_or_else(|| malformed("descriptors"))
    });
    let descriptors = descriptors.collect::<Result<_>>()?;
    Ok(response.set("descriptors", Array::Struct(descriptors))?)
}

fn list(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let depth = request.get("depth").and_then(|depth| depth.as_u64());
    let prefixes = names(request, "prefixes");
    let listing = parameters.with(|store| store.list(&prefixes, depth.unwrap_or(0)));
    let texts = |items: Vec<String>| Array::String(items.into_iter().map(Text::from).collect());
    response.set("result.names", texts(listing.names))?;
    Ok(response.set("result.prefixes", texts(listing.prefixes))?)
}

fn set(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let schema = builtin("rcl_interfaces/msg/SetParametersResult")?;
    let results = assignments(request)?
        .into_iter()
        .map(|wanted| result(&schema, parameters.set(&[wanted])));
    let results = results.collect::<Result<_>>()?;
    Ok(response.set("results", Array::Struct(results))?)
}

fn set_atomically(parameters: &Parameters, request: &Value, response: &mut Value) -> Result<()> {
    let schema = builtin("rcl_interfaces/msg/SetParametersResult")?;
    let outcome = parameters.set(&assignments(request)?);
    Ok(response.set("result", result(&schema, outcome)?)?)
}

fn result(schema: &Schema, outcome: SetResult) -> Result<Struct> {
    let mut message = schema.default_value()?;
    message.set("successful", outcome.is_ok())?;
    message.set("reason", outcome.err().unwrap_or_default())?;
    message
        .as_struct()
        .cloned()
        .ok_or_else(|| malformed("result"))
}

/// The parameters of those names; none at all if one is not there, as rclcpp answers.
fn known(parameters: &Parameters, names: &[String]) -> Vec<(String, Parameter)> {
    parameters.with(|store| {
        let find = |name: &String| Some((name.clone(), store.get(name)?.clone()));
        names
            .iter()
            .map(find)
            .collect::<Option<_>>()
            .unwrap_or_default()
    })
}

fn names(request: &Value, field: &str) -> Vec<String> {
    match request.get(field) {
        Some(Value::Array(Array::String(items))) => items
            .iter()
            .map(|item| item.to_string_lossy().into_owned())
            .collect(),
        _ => Vec::new(),
    }
}

fn assignments(request: &Value) -> Result<Vec<(String, ParameterValue)>> {
    let Some(Value::Array(Array::Struct(items))) = request.get("parameters") else {
        return Err(malformed("parameters"));
    };
    let assignment = |item: &Struct| {
        let name = item.get("name")?.as_str()?.to_owned();
        let value = ParameterValue::from_message(item.get("value")?.as_struct()?)?;
        Some((name, value))
    };
    let all: Option<_> = items.iter().map(assignment).collect();
    all.ok_or_else(|| malformed("parameters"))
}

fn malformed(field: &'static str) -> Error {
    Error::Request { field }
}
