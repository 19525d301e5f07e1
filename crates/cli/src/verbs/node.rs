//! `timeloom node`: the nodes of a running robot.

mod info;
mod list;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom node list
  timeloom node info /talker                    its publishers, subscriptions and services";

crate::verbs::subverbs! {
    /// Look at the nodes of a running robot: list, info
    #[command(after_help = EXAMPLES)]
    {
        List => list,
        Info => info,
    }
}
