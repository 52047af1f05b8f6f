//! A tool that thinks what it is told to think.

use recount_agent::BoxFuture;
use recount_agent::permission::{Coverage, Opinion, Surroundings};
use recount_agent::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use recount_message::{Object, PermissionBehavior};

#[derive(Debug)]
pub(crate) struct Opinionated {
    spec: ToolSpec,
    pub(crate) opinion: Opinion,
    pub(crate) coverage: Coverage,
}

impl Opinionated {
    pub(crate) fn new(opinion: Opinion) -> Self {
        Self { spec: ToolSpec::new("t", "Does something."), opinion, coverage: Coverage::No }
    }

    pub(crate) fn read_only(mut self, read_only: bool) -> Self {
        self.spec.read_only = read_only;
        self
    }

    pub(crate) fn covered(mut self, coverage: Coverage) -> Self {
        self.coverage = coverage;
        self
    }
}

impl Tool for Opinionated {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, _: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok("done".into()) })
    }

    fn opinion<'a>(&'a self, _: &'a Object, _: &'a Surroundings) -> BoxFuture<'a, Opinion> {
        Box::pin(async { self.opinion.clone() })
    }

    fn is_covered(&self, _: &[&str], _: PermissionBehavior, _: &Object) -> Coverage {
        self.coverage
    }
}
