//! `timeloom service`: the services of a running robot.

mod call;
mod list;

const EXAMPLES: &str = "\
EXAMPLES
  timeloom service list -t
  timeloom service call /reset std_srvs/srv/Trigger
  timeloom service call /add example_interfaces/srv/AddTwoInts '{a: 1, b: 2}'";

crate::verbs::subverbs! {
    /// Look at the services of a running robot, and call them: list, call
    #[command(after_help = EXAMPLES)]
    {
        List => list,
        Call => call,
    }
}
