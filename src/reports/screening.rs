//! Screening providers: what owners decided about their holds (§4.7, last paragraph; profile 2.8, 3.2).

use serde_json::{Value, json};

use crate::engine::{EngineError, Rows};

/// A provider and its holds (a row of `screening_provider`), in stops over all time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScreeningProvider {
    /// The provider's id, as the reporters give it.
    pub id: String,
    /// Holds that the owner blocked.
    pub blocked: i64,
    /// Holds that the owner released.
    pub released: i64,
    /// Holds that nobody decided.
    pub open: i64,
}

impl ScreeningProvider {
    /// The inner object of a `screening_provider` document.
    pub fn document(&self) -> Value {
        json!({ "id": self.id, "blocked": self.blocked, "released": self.released, "open": self.open })
    }
}

/// Reads the rows of `screening_provider`, which stand in the order of the ids.
pub fn providers(rows: &Rows) -> Result<Vec<ScreeningProvider>, EngineError> {
    let (id, blocked, released, open) =
        (rows.text("id")?, rows.int("blocked")?, rows.int("released")?, rows.int("open")?);
    let provider = |row| {
        Some(ScreeningProvider {
            id: id.get(row)?.to_owned(),
            blocked: blocked.get(row)?,
            released: released.get(row)?,
            open: open.get(row)?,
        })
    };
    Ok((0..rows.len()).filter_map(provider).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_four_members_and_no_more() {
        let provider = ScreeningProvider { id: "盾-shield".to_owned(), blocked: 0, released: 1, open: 7 };
        assert_eq!(provider.document(), json!({ "id": "盾-shield", "blocked": 0, "released": 1, "open": 7 }));
    }
}
