//! A tool with a scripted permission.

use recount_agent::BoxFuture;
use recount_agent::permission::{Coverage, PermissionContext, ToolPermission};
use recount_agent::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};
use recount_message::{Object, PermissionBehavior, PermissionRule};

#[derive(Debug)]
pub(crate) struct ScriptedTool {
    spec: ToolSpec,
    pub(crate) permission: ToolPermission,
    pub(crate) coverage: Coverage,
}

impl ScriptedTool {
    pub(crate) fn new(permission: ToolPermission) -> Self {
        Self { spec: ToolSpec::new("t", "Does something."), permission, coverage: Coverage::No }
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

impl Tool for ScriptedTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, _: Object, _: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        Box::pin(async { Ok("done".into()) })
    }

    fn check_permission<'a>(&'a self, _: &'a Object, _: &'a PermissionContext) -> BoxFuture<'a, ToolPermission> {
        Box::pin(async { self.permission.clone() })
    }

    fn rule_coverage(&self, rules: &[&PermissionRule], _: PermissionBehavior, _: &Object) -> Coverage {
        if rules.iter().any(|rule| rule.rule_content.is_none()) { Coverage::Yes } else { self.coverage }
    }
}
