//! `timeloom service call`.

use clap::Args;
use timeloom_msg::QosProfile;
use timeloom_node::{Client, ServiceTypes};
use timeloom_time::{Clock, Duration, Rate, System, WaitOptions, WireTime};
use timeloom_wire::{EndpointInfo, EndpointKind, Graph};

use crate::context::Context;
use crate::failure::Failure;
use crate::live::{
    Live, LiveArguments, QosArguments, Template, TypeFinder, hertz, seconds, service_type,
};
use crate::outcome::Outcome;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom service call /reset std_srvs/srv/Trigger
  timeloom service call /arm std_srvs/srv/SetBool '{\"data\": true}'
  timeloom service call /slow std_srvs/srv/Trigger --timeout 60
  timeloom service call /pose std_srvs/srv/Trigger -r 2        twice a second until Ctrl-C
  timeloom service call /arm std_srvs/srv/SetBool --stdin < request.yaml

The request is JSON or YAML; missing fields have their defaults. The response is printed as JSON.
The definition of a type that is neither built in nor installed is requested from the server (~/get_type_description);
over DDS, this needs service introspection.";

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
    /// Read the request from standard input
    #[arg(long)]
    stdin: bool,
    /// Call repeatedly, this many times per second
    #[arg(short, long, value_name = "HERTZ", value_parser = hertz)]
    rate: Option<f64>,
    /// Time to wait for a server, and then for each answer
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    timeout: Duration,
    #[command(flatten)]
    qos: QosArguments,
    #[command(flatten)]
    live: LiveArguments,
}

impl Arguments {
    fn template(&self, types: &ServiceTypes) -> anyhow::Result<Template> {
        let text = (!self.stdin).then_some(self.request.as_str());
        Template::new(&types.request, text)
    }
}

pub(crate) fn run(arguments: &Arguments, context: &mut Context) -> anyhow::Result<Outcome> {
    if arguments.stdin && arguments.request != "{}" {
        return Err(Failure::usage("a request and --stdin cannot be used together").into());
    }
    let type_name = service_type(&arguments.type_name)?;
    let wanted = type_name.to_string();
    // Check what is known locally before using the network.
    let here = match TypeFinder::new().service(&type_name) {
        Ok(types) => Ok((arguments.template(&types)?, types)),
        Err(unknown) => Err(unknown),
    };
    let live = Live::join(&arguments.live, context)?;
    let service = live.service(&arguments.service)?;
    let (request, types) = match here {
        Ok(known) => known,
        Err(unknown) => {
            let types = ask_server(arguments, &live, (&service, &wanted), unknown)?;
            (arguments.template(&types)?, types)
        }
    };
    let qos = arguments.qos.over(QosProfile::SERVICES);
    let client = Client::new(live.node(), &service, types, qos, &live.base())?;
    let stopper = client.stopper();
    live.interrupt().wakes(move || stopper.stop());
    if !find_server(arguments, &live, &client, (&service, &wanted))? {
        return Ok(Outcome::Done);
    }
    call(arguments, &live, &client, &request, context)
}

/// Asks a server for a type that is unknown here; `unknown` lists the places that were searched.
fn ask_server(
    arguments: &Arguments,
    live: &Live,
    (service, wanted): (&str, &str),
    unknown: anyhow::Error,
) -> anyhow::Result<ServiceTypes> {
    let server = |graph: &Graph| -> Option<EndpointInfo> {
        let mut servers = graph.on(service, EndpointKind::Server);
        servers.find(|server| server.type_name == wanted).cloned()
    };
    live.wait_for(Some(arguments.timeout), |graph| server(graph).is_some());
    // The name of its node and the topic of its events may come after it.
    match server(&live.settled()) {
        Some(server) => Ok(TypeFinder::new().of_server(live, &server)?),
        None => Err(unknown),
    }
}

/// Waits for a server; false at Ctrl-C.
fn find_server(
    arguments: &Arguments,
    live: &Live,
    client: &Client,
    (service, wanted): (&str, &str),
) -> anyhow::Result<bool> {
    // A separate wait, so that a wrong type is reported at once.
    let is_there = |graph: &Graph| graph.on(service, EndpointKind::Server).next().is_some();
    let found = live.wait_for(Some(arguments.timeout), is_there);
    if live.interrupt().happened() {
        return Ok(false);
    }
    let graph = live.graph();
    let servers = || graph.on(service, EndpointKind::Server);
    let fits = servers().any(|server| server.type_name == wanted);
    if let (Some(server), false) = (servers().next(), fits) {
        let text = format!("{service} has the type {}, not {wanted}", server.type_name);
        let hint = format!("use the type {}", server.type_name);
        return Err(Failure::new(text).hint(hint).into());
    }
    if found && client.wait_for_server(arguments.timeout) {
        return Ok(true);
    }
    if live.interrupt().happened() {
        return Ok(false);
    }
    if found {
        let text = format!(
            "{service} exists, but did not match within {}",
            arguments.timeout
        );
        let hint = "its node is starting or stopping, or its QoS is incompatible: `timeloom doctor net` looks for causes";
        return Err(Failure::new(text).hint(hint).into());
    }
    let known = graph.services().into_iter().map(|(name, _)| name);
    Err(live.missing("service", service, known).into())
}

/// Calls once, or at the rate until Ctrl-C.
fn call(
    arguments: &Arguments,
    live: &Live,
    client: &Client,
    request: &Template,
    context: &mut Context,
) -> anyhow::Result<Outcome> {
    let clock = live.clock();
    let machine = Clock::<System>::on(&live.base());
    let rate = arguments.rate.map(|hertz| {
        Rate::from_hertz(&clock, hertz)
            .map_err(|error| Failure::usage(format!("-r {hertz}: {error}")))
    });
    let mut rate = rate.transpose()?;
    let options = WaitOptions::new().cancel(live.interrupt().token());
    loop {
        let payload = request.payload(|| WireTime::saturating_from(machine.now()))?;
        match client.call_encoded(payload, arguments.timeout) {
            Ok(response) => writeln!(context.printer.data(), "{}", response.to_json())?,
            Err(_) if live.interrupt().happened() => return Ok(Outcome::Done),
            Err(error) => return Err(error.into()),
        }
        context.printer.flush()?;
        let Some(rate) = &mut rate else {
            return Ok(Outcome::Done);
        };
        if rate.sleep_with(&options).is_err() || live.interrupt().happened() {
            return Ok(Outcome::Done);
        }
    }
}
