//! The recorded bag against everything that the plan asks for.

use std::path::Path;

use timeloom_bag::{BagReader, StorageReader as _};
use timeloom_compare::{CompareOptions, Comparison, Kind, compare};
use timeloom_contract::{Contract, TopicContract, check_bag};
use timeloom_msg::TypeResolver;
use timeloom_trace::{BagFeed, Engine, EngineOptions, LinkSearch, Verdict};

use crate::plan::RunPlan;
use crate::traced_bag;

/// The verdicts on a recorded bag.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) comparison: Option<Comparison>,
}

/// Judges the bag of a run. A check that cannot be made is a verdict that is not kept.
pub(crate) fn judge(plan: &RunPlan, bag: &Path, types: &TypeResolver) -> Judgement {
    let mut judgement = Judgement::default();
    let mut add = |what: &str, checked: Result<Vec<Verdict>, String>| match checked {
        Ok(verdicts) => judgement.verdicts.extend(verdicts),
        Err(reason) => judgement.verdicts.push(failed(what, &reason)),
    };
    add("losses", losses(plan, bag, types));
    if let Some(contract) = &plan.contract {
        add("contract", check(contract, bag, types));
    }
    if let Some(budgets) = &plan.budgets {
        let traced = bag.with_file_name("traced");
        let checked = traced_bag::write(plan, bag, &traced)
            .and_then(|()| check_budgets(budgets, &traced, types));
        add("budgets", checked);
    }
    let mut comparison = None;
    if let Some(expected) = &plan.expected {
        let compared = compare_bags(plan, expected, bag, types);
        let verdicts = compared.map(|found| {
            let verdicts = timeloom_compare::verdicts(&found);
            comparison = Some(found);
            verdicts
        });
        add("expected", verdicts);
    }
    judgement.comparison = comparison;
    judgement
}

fn failed(what: &str, reason: &str) -> Verdict {
    Verdict {
        budget: "bag".to_owned(),
        path: String::new(),
        what: what.to_owned(),
        allowed: "checked".to_owned(),
        actual: "not checked".to_owned(),
        kept: false,
        reason: format!("{what}: {reason}"),
    }
}

fn open(bag: &Path) -> Result<BagReader, String> {
    BagReader::open(bag).map_err(|error| format!("cannot open {}: {error}", bag.display()))
}

/// Messages of the outputs that were lost on their way into the bag.
fn losses(plan: &RunPlan, bag: &Path, types: &TypeResolver) -> Result<Vec<Verdict>, String> {
    let limit = |name: &String| {
        let contract = TopicContract {
            optional: true,
            max_lost: Some(plan.max_lost),
            ..TopicContract::default()
        };
        (name.clone(), contract)
    };
    let contract = Contract {
        topics: plan.outputs.iter().map(limit).collect(),
        ..Contract::default()
    };
    let mut verdicts = check(&contract, bag, types)?;
    verdicts.retain(|verdict| verdict.what == "max_lost");
    Ok(verdicts)
}

fn check(contract: &Contract, bag: &Path, types: &TypeResolver) -> Result<Vec<Verdict>, String> {
    let report = check_bag(&mut open(bag)?, contract, types);
    let report = report.map_err(|error| error.to_string())?;
    Ok(report.verdicts())
}

fn check_budgets(
    plan: &timeloom_trace::Plan,
    bag: &Path,
    types: &TypeResolver,
) -> Result<Vec<Verdict>, String> {
    let mut reader = open(bag)?;
    let mut options = EngineOptions::default();
    let targets = plan.budgets.iter().map(|budget| budget.to.clone());
    options.targets.extend(targets);
    plan.apply(&mut options);
    let mut engine = Engine::new(options);
    let feed = BagFeed {
        links: LinkSearch::Auto,
        model: plan.model.clone(),
        start_ns: None,
        end_ns: None,
        types: types.clone(),
    };
    let read = feed.run(&mut reader, &mut engine, &mut ());
    read.map_err(|error| error.to_string())?;
    feed.add_accounts(&reader, &mut engine);
    let report = engine.report();
    let budgets = plan.budgets.iter();
    Ok(budgets.flat_map(|budget| budget.check(&report)).collect())
}

fn compare_bags(
    plan: &RunPlan,
    expected: &Path,
    bag: &Path,
    types: &TypeResolver,
) -> Result<Comparison, String> {
    let (mut left, mut right) = (open(expected)?, open(bag)?);
    let options = CompareOptions {
        topics: Some(plan.outputs.clone()),
        ..plan.compare.options.clone()
    };
    let names = [expected.display().to_string(), bag.display().to_string()];
    let names = [names[0].as_str(), names[1].as_str()];
    let found = compare(&mut left, &mut right, names, &options, types);
    let mut found = found.map_err(|error| error.to_string())?;
    ignore_empty_topics(&mut found);
    if found.topics.is_empty() && !plan.outputs.is_empty() {
        return Err("neither bag has one of the outputs".to_owned());
    }
    if !left.info().damage.is_empty() {
        return Err(format!("{}: parts could not be read", expected.display()));
    }
    Ok(found)
}

/// A topic without messages is the same as none: publishers that never publish may be found or not.
fn ignore_empty_topics(found: &mut Comparison) {
    found.topics.retain(|topic| {
        let messages = |side: &Option<timeloom_compare::TopicSide>| {
            side.as_ref().map_or(0, |side| side.messages)
        };
        let alone = topic
            .kinds
            .iter()
            .any(|kind| matches!(kind, Kind::OnlyLeft | Kind::OnlyRight));
        !alone || messages(&topic.left) + messages(&topic.right) > 0
    });
}
