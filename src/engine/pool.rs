//! The memory that operators share: as it comes while there is plenty, and in fair shares where it runs short.
//!
//! DataFusion's fair pool gives each operator that could spill the same share from the start, however few of them want any, so that one aggregate
//! of many spills while most of the memory lies idle.

use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::error::DataFusionError;
use datafusion::execution::memory_pool::{FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation};

/// A fair pool that gives freely up to half of its size.
#[derive(Debug)]
pub(super) struct Pool {
    fair: FairSpillPool,
    free: usize,
    /// Bytes that are being given freely at this moment, by whichever thread.
    giving: AtomicUsize,
}

impl Pool {
    /// A pool of so many bytes.
    pub fn new(bytes: usize) -> Pool {
        Pool { fair: FairSpillPool::new(bytes), free: bytes / 2, giving: AtomicUsize::new(0) }
    }
}

impl MemoryPool for Pool {
    fn name(&self) -> &str {
        "free, then fair"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.fair.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.fair.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.fair.grow(reservation, additional);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.fair.shrink(reservation, shrink);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<(), DataFusionError> {
        let giving = self.giving.fetch_add(additional, Ordering::SeqCst).saturating_add(additional);
        let given = if self.fair.reserved().saturating_add(giving) <= self.free {
            self.fair.grow(reservation, additional);
            Ok(())
        } else {
            self.fair.try_grow(reservation, additional)
        };
        self.giving.fetch_sub(additional, Ordering::SeqCst);
        given
    }

    fn reserved(&self) -> usize {
        self.fair.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.fair.memory_limit()
    }
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fair.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn one_of_many_may_have_half_and_then_its_share() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(1000));
        let spilling = |name: &str| MemoryConsumer::new(name).with_can_spill(true).register(&pool);
        let (one, _others) = (spilling("one"), [spilling("two"), spilling("three"), spilling("four")]);
        assert!(one.try_grow(500).is_ok());
        assert!(one.try_grow(1).is_err(), "its share of the whole is 250");
        let two = spilling("five");
        assert!(two.try_grow(200).is_ok(), "a fifth of the whole is its own");
        assert!(two.try_grow(1).is_err());
        drop(one);
        assert!(two.try_grow(300).is_ok());
        assert_eq!(pool.reserved(), 500);
        drop(two);
        assert_eq!(pool.reserved(), 0);
    }

    #[test]
    fn what_cannot_spill_has_all_that_is_left() {
        let pool: Arc<dyn MemoryPool> = Arc::new(Pool::new(1000));
        let fixed = MemoryConsumer::new("fixed").register(&pool);
        assert!(fixed.try_grow(900).is_ok() && fixed.try_grow(101).is_err() && fixed.try_grow(100).is_ok());
    }
}
