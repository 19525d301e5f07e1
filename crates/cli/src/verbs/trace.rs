//! `timeloom trace`: which inputs made an output, how late, and what broke.

mod analysis;
mod check;
mod diff;
mod export;
mod live;
mod path;
mod report;
mod text;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom trace live                                      the paths of a running robot
  timeloom trace report my_bag                             latencies, hops and losses of every path
  timeloom trace report my_bag --format html -o page.html  the same as one page, with graph and flows
  timeloom trace path my_bag --to /cmd                     the ways to one topic, hop by hop
  timeloom trace check budget.yaml my_bag                  exit code 1 when a budget is missed, for CI (--junit FILE)
  timeloom trace diff before after                         what got slower
  timeloom trace export my_bag --format chrome -o t.json   for Perfetto; also otlp, mermaid, dot

Lineage comes from the tags of tracked nodes and of TILDE (tilde_msg/msg/MessageTrackingTag), from Autoware's
PublishedTime, or, without any change of code, from the graph that `timeloom record` keeps, from a node model or from
equal stamps. Each link says how it is known, and how sure it is.";

crate::verbs::subverbs! {
    /// Lineage of messages: which inputs made an output, how late, what broke: live, report, path, check, diff, export
    #[command(after_help = EXAMPLES)]
    {
        Live => live,
        Report => report,
        Path => path,
        Check => check,
        Diff => diff,
        Export => export,
    }
}
