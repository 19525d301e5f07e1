//! The address and access rules of the server.

use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};
use std::sync::Arc;

use clap::Args;
use timeloom_view::{Server, Source, ViewOptions};

use crate::context::Context;
use crate::failure::Failure;

/// The port that Foxglove expects.
const PORT: u16 = 8765;

/// The address and access rules of the server.
#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
pub(crate) struct ServerArguments {
    /// The port; 0 for any free one
    #[arg(long, value_name = "PORT", default_value_t = PORT)]
    port: u16,
    /// The address to listen on; 127.0.0.1 accepts connections from this machine only
    #[arg(long, alias = "host", value_name = "ADDRESS", default_value_t = IpAddr::V4(Ipv4Addr::LOCALHOST))]
    address: IpAddr,
    /// Web pages that may connect besides this machine's, Foxglove's and Lichtblick's, such as `https://studio.example.org`
    #[arg(long, value_name = "ORIGIN", num_args = 1.., value_delimiter = ',')]
    allow_origin: Vec<String>,
    /// Maximum number of clients
    #[arg(long, value_name = "COUNT", default_value = "32", value_parser = clap::value_parser!(u16).range(1..=1000))]
    max_clients: u16,
    /// Queue of each client in MiB; when it is full, the oldest messages are dropped and counted
    #[arg(long, value_name = "MIB", default_value = "32", value_parser = clap::value_parser!(u16).range(1..=4096))]
    client_queue_mib: u16,
    /// Open the page in a browser
    #[arg(long)]
    open: bool,
}

impl ServerArguments {
    /// Starts the server; prints its address on stdout and hints on stderr.
    pub(super) fn start(
        &self,
        source: Arc<dyn Source>,
        what: &str,
        context: &mut Context,
    ) -> anyhow::Result<Server> {
        let options = ViewOptions {
            address: SocketAddr::new(self.address, self.port),
            allowed_origins: self.allow_origin.clone(),
            most_clients: usize::from(self.max_clients),
            send_queue_bytes: usize::from(self.client_queue_mib) << 20,
            ..ViewOptions::default()
        };
        let server = Server::start(options, source).map_err(explained)?;
        let url = server.url();
        if !self.address.is_loopback() {
            let text = format!(
                "{} is reachable from other machines: everyone who can connect to {} can see and control {what}",
                self.address,
                server.address()
            );
            context.printer.warning(&text);
        }
        writeln!(context.printer.data(), "{url}")?;
        context.printer.flush()?;
        let socket = url.replacen("http", "ws", 1);
        let text =
            format!("{what}: {url} in a browser, {socket} in Foxglove, Lichtblick and PlotJuggler");
        context.printer.note(&text);
        if self.open {
            open(&url, context);
        }
        Ok(server)
    }
}

/// A port that is in use, with the way out.
fn explained(error: timeloom_view::Error) -> anyhow::Error {
    match error {
        timeloom_view::Error::Listen { address, source } => {
            let taken = source.kind() == std::io::ErrorKind::AddrInUse;
            let hint = "another viewer may run there; --port 0 takes any free port";
            Failure::new(format!("can't listen on {address}: {source}"))
                .hint_if(taken.then(|| hint.to_owned()))
                .into()
        }
        other => other.into(),
    }
}

/// Opens a page in the user's browser; a failure to start it is only a warning.
fn open(url: &str, context: &mut Context) {
    let program = env::var("BROWSER").ok().filter(|name| !name.is_empty());
    let usual = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let program = program.unwrap_or_else(|| usual.to_owned());
    let started = Command::new(&program)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if let Err(error) = started {
        let text = format!("can't open a browser with {program}: {error}");
        context.printer.warning(&text);
        context.printer.hint(&format!("open {url} yourself"));
    }
}
