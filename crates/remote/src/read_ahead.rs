//! Requests that are sent before their bytes are needed.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

use crate::Result;
use crate::block_cache::BlockCache;
use crate::object::Object;
use crate::plan::{GAP, Plan};
use crate::runtime::Task;

/// Limit of the requests in flight.
const DEPTH: usize = 4;
/// Size of the first request after a jump, unless more is needed at once.
const FIRST: u64 = 256 << 10;
/// Size of requests in a long read.
const LARGEST: u64 = 4 << 20;

/// A plan that is being executed.
#[derive(Default)]
pub(crate) struct ReadAhead {
    plan: Plan,
    flying: VecDeque<Transfer>,
    /// Reads since the last jump: after two consecutive reads, more will most likely follow.
    reads: usize,
    size: u64,
}

struct Transfer {
    range: Range<u64>,
    task: Task<Result<Bytes>>,
}

/// The context of requests.
pub(crate) struct RequestContext<'a> {
    pub(crate) object: &'a Object,
    pub(crate) cache: &'a BlockCache,
    pub(crate) file: u64,
}

impl ReadAhead {
    /// Replaces the plan; requests of the old one are cancelled.
    pub(crate) fn set(&mut self, plan: Plan) {
        *self = Self {
            plan,
            ..Self::default()
        };
    }

    /// A new read begins; it may take several calls of [`read`](Self::read).
    pub(crate) fn begin(&mut self) {
        self.reads = self.reads.saturating_add(1);
    }

    /// The bytes from `at` on if the plan has them, waiting for them if necessary; `None` if it has not.
    pub(crate) fn read(
        &mut self,
        at: u64,
        wanted: u64,
        around: &RequestContext<'_>,
    ) -> Result<Option<Bytes>> {
        if let Some(bytes) = around.cache.get(around.file, at) {
            self.go_on(around)?;
            return Ok(Some(bytes));
        }
        if !self.flying.iter().any(|one| one.range.contains(&at))
            && !self.reach(at, wanted, around)?
        {
            return Ok(None);
        }
        while let Some(transfer) = self.flying.pop_front() {
            if !transfer.range.contains(&at) {
                // Skipped: it is cancelled.
                continue;
            }
            self.go_on(around)?;
            let bytes = transfer.task.wait()??;
            around.cache.put(around.file, transfer.range.start, &bytes);
            let skip = usize::try_from(at - transfer.range.start).unwrap_or(usize::MAX);
            return Ok(Some(bytes.slice(skip.min(bytes.len())..)));
        }
        Ok(None)
    }

    /// Requests a byte that was not requested yet; `false` when it is not in the plan.
    fn reach(&mut self, at: u64, wanted: u64, around: &RequestContext<'_>) -> Result<bool> {
        let next = self.plan.next_byte().filter(|next| *next <= at);
        let distance = next.map(|next| at - next).filter(|gap| *gap <= GAP);
        if distance.is_none() {
            if !self.plan.seek(at) {
                return Ok(false);
            }
            self.flying.clear();
            self.reads = 1;
            self.size = FIRST;
        }
        // The reader skipped the bytes in between, but without them the cache would have holes.
        let needed = distance.unwrap_or(0) + wanted;
        self.size = self.size.max(needed).min(LARGEST);
        self.request(around)
    }

    /// Keeps requests in flight, more of them the longer reading is sequential.
    fn go_on(&mut self, around: &RequestContext<'_>) -> Result<()> {
        let depth = self.reads.saturating_sub(1).min(DEPTH);
        while self.flying.len() < depth {
            self.size = self.size.saturating_mul(2).clamp(FIRST, LARGEST);
            if !self.request(around)? {
                break;
            }
        }
        Ok(())
    }

    fn request(&mut self, around: &RequestContext<'_>) -> Result<bool> {
        while let Some(next) = self.plan.next_byte() {
            let Some(known) = around.cache.get(around.file, next) else {
                break;
            };
            self.plan.skip_to(next + known.len() as u64);
        }
        let Some(range) = self.plan.take(self.size) else {
            return Ok(false);
        };
        self.flying.push_back(Transfer {
            task: around.object.fetch(range.clone())?,
            range,
        });
        Ok(true)
    }
}
