//! `timeloom service call`.

use bytes::Bytes;
use clap::Args;
use timeloom_msg::QosProfile;
use timeloom_time::Duration;
use timeloom_wire::{Caller, EndpointKind, Graph};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{Live, LiveArguments, TypeFinder, full_name, message_value, seconds};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom service call /reset std_srvs/srv/Trigger
  timeloom service call /arm std_srvs/srv/SetBool '{\"data\": true}'
  timeloom service call /slow std_srvs/srv/Trigger --timeout 60

The request is JSON or YAML; what is not said keeps its default. The response is printed as JSON.";

/// Call a service and print its answer
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The service
    #[arg(value_name = "SERVICE")]
    service: String,
    /// Its type, such as `std_srvs/srv/SetBool`
    #[arg(value_name = "TYPE")]
    type_name: String,
    /// The request as JSON or YAML
    #[arg(value_name = "REQUEST", default_value = "{}")]
    request: String,
    /// How long to wait for a server, and then for its answer
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    live: LiveArguments,
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    let service = full_name(&arguments.service)?;
    let types = TypeFinder::new().service(&arguments.type_name)?;
    let request = types
        .request
        .encode(&message_value(&types.request, &arguments.request)?)?;
    let live = Live::join(&arguments.live, context)?;
    let spec = types.spec(&service, QosProfile::SERVICES);
    let caller = Caller::new(live.node(), &spec, &live.base())?;
    // A wait of its own, so that a wrong type is told at once and Ctrl-C ends it.
    let is_there = |graph: &Graph| graph.on(&service, EndpointKind::Server).next().is_some();
    let found = live.wait_for(Some(arguments.timeout), is_there);
    if live.interrupt().happened() {
        return Ok(Outcome::Done);
    }
    let graph = live.graph();
    let wanted = spec.type_name.to_string();
    let mut servers = graph.on(&service, EndpointKind::Server);
    let fits = graph
        .on(&service, EndpointKind::Server)
        .any(|server| server.type_name == wanted);
    if let (Some(server), false) = (servers.next(), fits) {
        let text = format!("{service} is a {}, not a {wanted}", server.type_name);
        return Err(Failure::new(text).into());
    }
    if !found || !caller.wait_for_server(arguments.timeout) {
        let known = graph.services().into_iter().map(|(name, _)| name);
        return Err(live.missing("service", &service, known).into());
    }
    let response = caller.call(Bytes::from(request), arguments.timeout)?;
    let response = types.response.decode(&response)?;
    writeln!(context.printer.data(), "{}", response.to_json())?;
    Ok(Outcome::Done)
}
