//! The services `~/pfsdp_…` of the vendor's driver: commands of the device.

use std::sync::Arc;

use timeloom_msg::value::Array;
use timeloom_msg::{Definitions, Value};
use timeloom_node::{Error as NodeError, Result as NodeResult, RosNode, Service};
use timeloom_pf::pfsdp::{Command, Reply};
use timeloom_pf::{Error as DeviceError, Lidar};

use crate::Result;

/// The command of a service, and the field for the reply.
#[derive(Clone, Copy)]
enum Kind {
    ProtocolInfo,
    Plain(fn() -> Command),
    List(fn() -> Command, &'static str),
    Get(fn(Vec<String>) -> Command),
    Set(fn(Vec<(String, String)>) -> Command),
    Reset(fn(Vec<String>) -> Command),
}

/// The services by the end of their name and of their type's name.
const SERVICES: [(&str, &str, Kind); 10] = [
    ("get_protocol_info", "GetProtocolInfo", Kind::ProtocolInfo),
    (
        "reboot_device",
        "RebootDevice",
        Kind::Plain(|| Command::RebootDevice),
    ),
    (
        "factory_reset",
        "FactoryReset",
        Kind::Plain(|| Command::FactoryReset),
    ),
    (
        "list_parameters",
        "ListParameters",
        Kind::List(|| Command::ListParameters, "parameters"),
    ),
    (
        "get_parameter",
        "GetParameter",
        Kind::Get(Command::GetParameters),
    ),
    (
        "set_parameter",
        "SetParameter",
        Kind::Set(Command::SetParameters),
    ),
    (
        "reset_parameter",
        "ResetParameter",
        Kind::Reset(Command::ResetParameters),
    ),
    (
        "list_iq_parameters",
        "ListIqParameters",
        Kind::List(|| Command::ListIqParameters, "iq_parameters"),
    ),
    (
        "get_iq_parameter",
        "GetIqParameter",
        Kind::Get(Command::GetIqParameters),
    ),
    (
        "set_iq_parameter",
        "SetIqParameter",
        Kind::Set(Command::SetIqParameters),
    ),
];

/// Serves until the result is dropped.
pub(crate) fn serve(node: &RosNode, lidar: &Arc<Lidar>) -> Result<Vec<Service>> {
    let serve = |(name, type_name, kind): &(&str, &str, Kind)| {
        let (kind, lidar) = (*kind, Arc::clone(lidar));
        let type_name = format!("pf_interfaces/srv/Pfsdp{type_name}");
        let response_type = format!("{type_name}_Response");
        let handler = move |request: &Value| answer(&lidar, kind, request, &response_type);
        Ok(node.serve(&format!("~/pfsdp_{name}"), &type_name, handler)?)
    };
    SERVICES.iter().map(serve).collect()
}

fn answer(lidar: &Lidar, kind: Kind, request: &Value, response_type: &str) -> NodeResult<Value> {
    let mut response = Definitions::builtin()
        .schema(response_type)?
        .default_value()?;
    let name = || text(request, "name");
    let command = match kind {
        Kind::ProtocolInfo => Command::GetProtocolInfo,
        Kind::Plain(command) | Kind::List(command, _) => command(),
        Kind::Get(command) | Kind::Reset(command) => command(vec![name()?]),
        Kind::Set(command) => command(vec![(name()?, text(request, "value")?)]),
    };
    let filled = lidar
        .ask(&command)
        .and_then(|reply| fill(&mut response, kind, request, &reply));
    let (code, words) = match filled {
        Ok(()) => (0, "success".to_owned()),
        Err(error) => (code_of(&error), words_of(&error)),
    };
    response.set("error_code", code)?;
    response.set("error_text", words)?;
    Ok(response)
}

/// Fills the response from the reply of the device.
fn fill(
    response: &mut Value,
    kind: Kind,
    request: &Value,
    reply: &Reply,
) -> timeloom_pf::Result<()> {
    let mut set = |field: &str, value: Value| {
        // Names and types are those of the built-in definitions.
        let _fits = response.set(field, value);
    };
    let texts = |items: Vec<String>| {
        let items = items.into_iter().map(Into::into).collect();
        Value::Array(Array::String(items))
    };
    match kind {
        Kind::ProtocolInfo => {
            let protocol = reply.protocol()?;
            let small = |number: u64| Value::Int32(i32::try_from(number).unwrap_or(i32::MAX));
            set("protocol_name", Value::from(protocol.name.as_str()));
            set("version_major", small(protocol.version.0));
            set("version_minor", small(protocol.version.1));
            set(
                "commands",
                texts(reply.list("commands").unwrap_or_default()),
            );
        }
        Kind::List(_, field) => set(field, texts(reply.list(field)?)),
        Kind::Get(_) => {
            let name = text(request, "name").unwrap_or_default();
            set("value", Value::from(reply.joined(&name)?.as_str()));
        }
        Kind::Plain(_) | Kind::Set(_) | Kind::Reset(_) => {}
    }
    Ok(())
}

fn text(request: &Value, field: &'static str) -> NodeResult<String> {
    let value = request.get(field);
    let text = value.as_ref().and_then(Value::as_str);
    text.map(str::to_owned).ok_or(NodeError::Request { field })
}

/// The error code of the device; negative for HTTP (`-404`) and for a device that could not be reached (`-1`).
fn code_of(error: &DeviceError) -> i32 {
    match error {
        DeviceError::Refused { code, .. } => i32::try_from(code.0).unwrap_or(i32::MAX),
        DeviceError::HttpStatus { status, .. } => -i32::from(*status),
        _ => -1,
    }
}

fn words_of(error: &DeviceError) -> String {
    match error {
        DeviceError::Refused { text, .. } if !text.is_empty() => text.clone(),
        _ => error.to_string(),
    }
}
