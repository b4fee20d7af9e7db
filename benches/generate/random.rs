//! Chance that is the same on every machine: SplitMix64, and a Zipf draw in integers.

/// Mixes a number so that neighbours look unrelated. One to one, so distinct numbers stay distinct.
pub fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A stream of numbers.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// A stream of its own for each seed.
    pub fn new(seed: u64) -> Random {
        Random(mix(seed ^ 0x6765_6e65_7261_7465))
    }

    /// The next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `bound`; 0 for a bound of 0. The bias of the multiplication is far below anything counted here.
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number from `low` to below `high`.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low).max(1) as u64) as i64
    }

    /// True in `share` of a thousand draws.
    pub fn per_mille(&mut self, share: u64) -> bool {
        self.below(1000) < share
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as u64) as usize]
    }

    /// Puts the items in a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Ranks drawn so that rank k comes up in proportion to 1 / k.
#[derive(Debug)]
pub struct Zipf {
    cumulated: Vec<u64>,
}

impl Zipf {
    /// Over `ranks` ranks.
    pub fn new(ranks: usize) -> Zipf {
        let mut sum = 0;
        let cumulated = (1..=ranks.max(1) as u64).map(|rank| {
            sum += (1 << 40) / rank;
            sum
        });
        Zipf { cumulated: cumulated.collect() }
    }

    /// A rank, from 0.
    pub fn draw(&self, random: &mut Random) -> usize {
        let total = self.cumulated.last().copied().unwrap_or(1);
        let mark = random.below(total);
        self.cumulated.partition_point(|sum| *sum <= mark)
    }
}
