//! Tables of one row whose columns stand as constants in plans. Joined to another table, such a row would be copied beside every row of it, and
//! a condition on its columns would tell nothing of which parts of a file to read; as constants they do.

use std::collections::HashMap;

use arrow::array::RecordBatch;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{Column, ScalarValue, TableReference};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::conjunction;
use datafusion::logical_expr::{Expr, Filter, JoinType, LogicalPlan, lit};
use std::sync::Arc;

/// Tables of one row, by name.
pub(super) type Constants = HashMap<String, RecordBatch>;

type Folded<T> = Result<T, DataFusionError>;

/// A row that has been taken out of a plan, and the name under which the plan above it names its columns.
type Live<'a> = (TableReference, &'a RecordBatch);

/// The same plan without the inner joins to these tables.
pub(super) fn fold(plan: LogicalPlan, constants: &Constants) -> Folded<LogicalPlan> {
    below(plan, constants).map(|(plan, _)| plan)
}

fn below<'a>(plan: LogicalPlan, constants: &'a Constants) -> Folded<(LogicalPlan, Vec<Live<'a>>)> {
    if let LogicalPlan::Join(join) = &plan
        && join.join_type == JoinType::Inner
    {
        let row = [(&join.left, &join.right), (&join.right, &join.left)]
            .into_iter()
            .find_map(|(side, other)| Some((row_of(side, constants)?, other)));
        if let Some((row, other)) = row {
            let (input, mut live) = below(other.as_ref().clone(), constants)?;
            live.push(row);
            let equal = join.on.iter().map(|(a, b)| a.clone().eq(b.clone()));
            let plan = match conjunction(equal.chain(join.filter.clone())) {
                Some(condition) => LogicalPlan::Filter(Filter::try_new(replaced(condition, &live)?, Arc::new(input))?),
                None => input,
            };
            return Ok((plan, live));
        }
    }
    // Above an outer join a row of its outer side may be missing, which a constant is not.
    let kept = match &plan {
        LogicalPlan::Join(join) => match join.join_type {
            JoinType::Left => [true, false],
            JoinType::Right => [false, true],
            JoinType::Full => [false, false],
            _ => [true, true],
        },
        _ => [true, true],
    };
    let (mut live, mut place) = (Vec::new(), 0);
    let plan = plan.map_children(|child| {
        let (child, rows) = below(child, constants)?;
        if kept.get(place).copied().unwrap_or(true) {
            live.extend(rows);
        }
        place += 1;
        Ok(Transformed::yes(child))
    })?;
    let mut plan = plan.data;
    if !live.is_empty() {
        let names = NamePreserver::new(&plan);
        let made = plan.map_expressions(|expression| {
            let name = names.save(&expression);
            Ok(Transformed::yes(name.restore(replaced(expression, &live)?)))
        })?;
        plan = made.data;
    }
    // What names its columns anew hides those below it.
    let hides = matches!(
        plan,
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::SubqueryAlias(_) | LogicalPlan::Union(_)
    );
    if hides {
        live.clear();
    }
    Ok((plan.recompute_schema()?, live))
}

/// The row that a side of a join is, if it is one of the tables.
fn row_of<'a>(side: &LogicalPlan, constants: &'a Constants) -> Option<Live<'a>> {
    match side {
        LogicalPlan::TableScan(scan) => Some((scan.table_name.clone(), constants.get(scan.table_name.table())?)),
        LogicalPlan::SubqueryAlias(alias) => row_of(&alias.input, constants)
            .map(|(_, row)| (alias.alias.clone(), row))
            .filter(|_| matches!(alias.input.as_ref(), LogicalPlan::TableScan(_))),
        _ => None,
    }
}

/// An expression with its columns of these rows as constants.
fn replaced(expression: Expr, live: &[Live<'_>]) -> Folded<Expr> {
    let value = |column: &Column| {
        let of = column.relation.as_ref()?;
        let (_, row) = live.iter().find(|(name, _)| name == of)?;
        row.column_by_name(&column.name)
    };
    let done = expression.transform_up(|part| match &part {
        Expr::Column(column) => match value(column) {
            Some(array) => Ok(Transformed::yes(lit(ScalarValue::try_from_array(array, 0)?))),
            None => Ok(Transformed::no(part)),
        },
        _ => Ok(Transformed::no(part)),
    })?;
    Ok(done.data)
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, Int64Array};

    use super::*;
    use crate::engine::{Resources, Session};

    fn batch(columns: &[(&str, &[i64])]) -> RecordBatch {
        let columns =
            columns.iter().map(|(name, values)| (*name, Arc::new(Int64Array::from(values.to_vec())) as ArrayRef));
        RecordBatch::try_from_iter(columns).unwrap()
    }

    /// The answers with one row as constants, and with a copy of it that is joined as any table is.
    fn answers(sql: &str) -> [String; 2] {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::open(&Resources::new(2, 64 << 20), folder.path()).unwrap();
        session.register_batch("entry", batch(&[("seq", &[1, 2, 3, 4]), ("at", &[10, 20, 30, 40])])).unwrap();
        session.register_batch("mark", batch(&[("seq", &[2, 4])])).unwrap();
        let mut said = [String::new(), String::new()];
        for (said, is_constant) in said.iter_mut().zip([true, false]) {
            session.register_batch("policy", batch(&[("as_of", &[30]), ("floor", &[1])])).unwrap();
            if !is_constant {
                session.constants().clear();
            }
            *said = format!("{:?}", session.rows("test", sql).unwrap().batch());
        }
        said
    }

    #[test]
    fn a_row_as_constants_says_what_the_row_joined_says() {
        for sql in [
            "select e.seq, p.as_of from policy p cross join entry e where e.at <= p.as_of order by e.seq",
            "select p.*, e.* from entry e cross join policy p where e.at > p.as_of + p.floor",
            "select count(*) as n, max(p.as_of) as t from policy p cross join entry e left join mark m on m.seq = e.seq where m.seq is null",
            "with seen as (select e.seq, e.at, p.floor from policy p cross join entry e where e.at < p.as_of)
             select p.seq, p.floor, q.as_of from seen p cross join policy q order by p.seq",
            "with held as (select m.seq, p.as_of from policy p cross join mark m)
             select e.seq, h.as_of from entry e left join held h on h.seq = e.seq order by e.seq",
            "select sum(e.at - p.as_of) as gap from policy p cross join entry e group by p.floor having sum(e.at) > p.floor",
            "select e.seq, row_number() over (partition by p.floor order by e.seq desc) as place
             from policy p cross join entry e order by e.seq, p.as_of",
            "select as_of from policy",
            "select e.seq, p.floor from policy p join entry e on e.seq = p.floor",
            "select e.seq, m.seq as mark from entry e join policy p on p.as_of = e.at left join mark m on m.seq = e.seq",
        ] {
            let [constant, joined] = answers(sql);
            assert_eq!(constant, joined, "{sql}");
        }
    }

    #[test]
    fn a_table_of_more_rows_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::open(&Resources::new(1, 64 << 20), folder.path()).unwrap();
        session.register_batch("t", batch(&[("x", &[1])])).unwrap();
        assert_eq!(session.constants().len(), 1);
        session.register_batch("t", batch(&[("x", &[1, 2])])).unwrap();
        assert!(session.constants().is_empty());
        assert_eq!(session.rows("test", "select a.x from t a cross join t b").unwrap().len(), 4);
    }
}
