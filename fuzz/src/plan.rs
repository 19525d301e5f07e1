//! Files of `trace check`: budgets, deadlines, hosts; and the spans of time in them.

use timeloom_trace::{Engine, EngineOptions, Plan, parse_span, span_text};

/// Reads a plan and holds an empty report against it; reads a span and writes it.
pub fn fuzz_plan(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Ok(plan) = Plan::parse(&text) {
        let mut engine = Engine::new(EngineOptions::default());
        let report = engine.report();
        for budget in &plan.budgets {
            let verdicts = budget.check(&report);
            assert!(verdicts.len() <= text.len());
        }
    }
    if let Ok(span) = parse_span(&text) {
        let nanos = u64::try_from(span.nanos()).unwrap_or_default();
        let _text = span_text(nanos);
    }
}
