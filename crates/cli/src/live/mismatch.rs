//! Publishers and subscriptions of one topic that do not match, as sentences.

use timeloom_doctor::Mismatch;
use timeloom_wire::Graph;

/// A sentence for each pair and policy of a topic that does not match.
pub(crate) fn mismatches(graph: &Graph, topic: &str) -> Vec<String> {
    let found = timeloom_doctor::mismatches(graph, topic);
    found.iter().map(mismatch_text).collect()
}

/// The two nodes, the reason, and the way out.
pub(crate) fn mismatch_text(mismatch: &Mismatch) -> String {
    match mismatch {
        Mismatch::Type {
            publisher: (from, published),
            subscription: (to, expected),
        } => format!(
            "{from} publishes {published} and {to} subscribes to {expected}: give both the same type"
        ),
        Mismatch::Qos {
            publisher,
            subscription,
            reason,
        } => format!("{publisher} does not reach {subscription}: {reason}"),
        other => format!("{other:?}"),
    }
}
