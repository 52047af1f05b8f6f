//! The tool that activates tool groups.

use std::collections::BTreeSet;

use recount_message::{Json, Object};

use super::group::ToolGroup;
use crate::BoxFuture;
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput, ToolSpec};

/// The name of the tool.
pub(super) const RESET_TOOLS: &str = "reset_tools";

const DESCRIPTION: &str = "Sets the active tool groups. A group that is not set to true is deactivated, \
so set all groups that you need to true. Activate only groups that the current task needs.";

#[derive(Debug)]
pub(super) struct ResetTools {
    spec: ToolSpec,
    groups: Vec<ToolGroup>,
}

impl ResetTools {
    pub(super) fn new(groups: &[ToolGroup]) -> Self {
        let property = |group: &ToolGroup| {
            let schema = [
                ("type", Json::from("boolean")),
                ("description", group.description.as_str().into()),
                ("default", false.into()),
            ];
            (group.name.clone(), Object::from(schema))
        };
        let parameters = Object::from([
            ("type", Json::from("object")),
            ("properties", groups.iter().map(property).collect::<Object>().into()),
            ("additionalProperties", false.into()),
        ]);
        let spec = ToolSpec::new(RESET_TOOLS, DESCRIPTION).parameters(parameters).read_only().idempotent();
        Self { spec, groups: groups.to_vec() }
    }
}

impl Tool for ResetTools {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn run<'a>(&'a self, arguments: Object, _context: &'a ToolContext) -> BoxFuture<'a, Result<ToolOutput, ToolError>> {
        let is_wanted =
            |group: &&ToolGroup| arguments.get(&group.name).is_some_and(|value| value.as_bool() == Some(true));
        let active: Vec<&ToolGroup> = self.groups.iter().filter(is_wanted).collect();
        let names: BTreeSet<String> = active.iter().map(|group| group.name.clone()).collect();
        let mut text = if active.is_empty() {
            "no tool groups are active".to_owned()
        } else {
            let quoted: Vec<String> = active.iter().map(|group| format!("`{}`", group.name)).collect();
            format!("active tool groups: {}", quoted.join(", "))
        };
        for group in active {
            if let Some(instructions) = &group.instructions {
                text.push_str(&format!("\n\n# {}\n{instructions}", group.name));
            }
        }
        Box::pin(async move { Ok(ToolOutput::new(text).with_active_groups(names)) })
    }
}
