//! Waits until all sent data has left this machine, before a session ends.
//!
//! Zenoh closes a connection in the middle of a write: with a slow receiver, the last messages would be lost silently.
//! Zenoh does not report unsent data, but the kernel does.

use std::fs;

use timeloom_time::{Clock, Duration, Steady};
use zenoh::{Session, Wait as _};

use crate::session_call::call;

/// The ports of a TCP connection, ours first.
type Ports = (u16, u16);

/// Interval of the checks.
const STEP: Duration = Duration::from_millis(5);
/// After this many checks with nothing unsent, all data has left.
const QUIET: u32 = 3;
/// Peers that accept no data for this long are not waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// Blocks until the peers' machines have all sent data, or accept no more; returns the number of bytes that they do not
/// have.
pub(crate) fn wait(session: &Session) -> u64 {
    let ports: Vec<Ports> = call(|| session.info().links().wait())
        .filter_map(|link| Some((port(link.src().as_str())?, port(link.dst().as_str())?)))
        .collect();
    if ports.is_empty() {
        return 0;
    }
    let clock = Clock::<Steady>::new();
    let (mut before, mut since, mut quiet) = (0, clock.now(), 0);
    while quiet < QUIET {
        let now = on_the_way(&ports);
        quiet = if now == 0 { quiet + 1 } else { 0 };
        if now != before {
            (before, since) = (now, clock.now());
        } else if now > 0 && clock.now() - since >= PATIENCE {
            return now;
        }
        let _woke = clock.sleep_for(STEP);
    }
    0
}

/// The port of a locator such as `tcp/127.0.0.1:7447`.
fn port(locator: &str) -> Option<u16> {
    let address = locator.split(['?', '#']).next()?;
    address.rsplit_once(':')?.1.parse().ok()
}

/// Number of bytes sent and not acknowledged; 0 where the kernel has no such table.
fn on_the_way(ports: &[Ports]) -> u64 {
    ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
        .iter()
        .filter_map(|table| fs::read_to_string(table).ok())
        .map(|table| unacknowledged(&table, ports))
        .sum()
}

/// The same from the kernel's table: `sl local:port remote:port state sent:received …`, all in hexadecimal.
fn unacknowledged(table: &str, ports: &[Ports]) -> u64 {
    let port = |address: &str| u16::from_str_radix(address.rsplit_once(':')?.1, 16).ok();
    let of_line = |line: &str| {
        let mut fields = line.split_whitespace().skip(1);
        let (ours, theirs) = (port(fields.next()?)?, port(fields.next()?)?);
        let (sent, _) = fields.nth(1)?.split_once(':')?;
        let sent = u64::from_str_radix(sent, 16).ok()?;
        ports.contains(&(ours, theirs)).then_some(sent)
    };
    table.lines().filter_map(of_line).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_table_of_the_kernel_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n   \
            0: 0100007F:1D17 00000000:0000 0A 00000000:00000000 00:00000000\n   \
            1: 0100007F:1D17 0100007F:C350 01 0000010A:00000000 00:00000000\n   \
            2: 0100007F:C350 0100007F:1D17 01 00000007:00000000 00:00000000\n nonsense\n";
        assert_eq!(unacknowledged(table, &[(7447, 50_000)]), 0x10a);
        assert_eq!(
            unacknowledged(table, &[(7447, 50_000), (50_000, 7447)]),
            0x111
        );
        assert_eq!(unacknowledged(table, &[(1, 2)]), 0);
        assert_eq!(port("tcp/[::1]:7447?iface=lo"), Some(7447));
        assert_eq!(port("unixsock-stream/tmp"), None);
    }

    #[test]
    fn unread_data_counts_as_unsent() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut ours = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut theirs, _) = listener.accept().unwrap();
        let address = |stream: &TcpStream| stream.local_addr().unwrap().port();
        let ports = [(address(&ours), address(&theirs))];
        ours.set_nonblocking(true).unwrap();
        let mut sent = 0;
        while let Ok(count) = ours.write(&[7; 10_000]) {
            sent += count;
        }
        assert!(on_the_way(&ports) > 0, "{sent} bytes fitted");
        let mut all = vec![0; sent];
        theirs.read_exact(&mut all).unwrap();
        let clock = Clock::<Steady>::new();
        let end = clock.now().saturating_add(Duration::from_secs(30));
        while on_the_way(&ports) > 0 {
            assert!(clock.now() < end, "all was read, and nothing acknowledged");
            let _woke = clock.sleep_for(STEP);
        }
    }
}
