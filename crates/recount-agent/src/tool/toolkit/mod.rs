//! The tools of an agent.

mod error;
mod group;
mod reset;

pub use error::{ToolLookupError, ToolkitError};
pub use group::ToolGroup;

use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use recount_model::format;

use super::Tool;
use super::compiled::CompiledTool;
use super::structured::STRUCTURED_OUTPUT;
use reset::{RESET_TOOLS, ResetTools};

/// The tools of an agent by name. Tools can be in groups that a model activates.
///
/// The active groups are part of the agent's state, so agents may share a toolkit.
///
/// ```
/// use std::collections::BTreeSet;
///
/// use recount_agent::tool::{FunctionTool, NoArguments, ToolGroup, Toolkit};
///
/// let clock = FunctionTool::new("clock", "Returns the time.", |_: NoArguments| async { Ok("noon") });
/// let open = FunctionTool::new("open", "Opens a page.", |_: NoArguments| async { Ok("a page") }).group("browser");
/// let toolkit = Toolkit::new().with_group(ToolGroup::new("browser", "Looks at web pages."))?.with(clock)?.with(open)?;
///
/// // A model activates groups by calling `reset_tools`.
/// let names = |active: &BTreeSet<String>| -> Vec<String> {
///     toolkit.definitions(active).iter().map(|tool| tool.name().to_owned()).collect()
/// };
/// assert_eq!(names(&toolkit.initially_active()), ["clock", "reset_tools"]);
/// assert_eq!(names(&BTreeSet::from(["browser".into()])), ["clock", "open", "reset_tools"]);
/// # Ok::<(), recount_agent::tool::ToolkitError>(())
/// ```
#[derive(Clone, Default)]
pub struct Toolkit {
    tools: Vec<CompiledTool>,
    /// The indexes of the tools by name.
    positions: HashMap<String, usize>,
    groups: Vec<ToolGroup>,
    /// The tool that activates groups. `None` without groups.
    reset: Option<CompiledTool>,
    sources: Vec<Arc<dyn ToolSource>>,
}

/// A source of tools that may change while an agent runs.
pub trait ToolSource: Send + Sync + 'static {
    /// The name. The names of the tools begin with it and `__`, so that they are unique.
    fn name(&self) -> &str;

    /// Returns the current tools.
    fn tools(&self) -> Arc<[CompiledTool]>;
}

impl Toolkit {
    /// Creates an empty toolkit.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool.
    ///
    /// # Errors
    ///
    /// The name is invalid, reserved or a duplicate, the group does not exist, or a schema is invalid.
    pub fn with(self, tool: impl Tool) -> Result<Self, ToolkitError> {
        self.with_shared(Arc::new(tool))
    }

    /// Adds a shared tool.
    ///
    /// # Errors
    ///
    /// As [`with`](Self::with).
    pub fn with_shared(mut self, tool: Arc<dyn Tool>) -> Result<Self, ToolkitError> {
        let compiled = CompiledTool::shared(tool)?;
        self.check_name(&compiled)?;
        let spec = compiled.spec();
        if let Some(group) = &spec.group
            && !self.groups.iter().any(|known| known.name == *group)
        {
            return Err(ToolkitError::UnknownGroup { tool: spec.name.clone(), group: group.clone() });
        }
        self.positions.insert(spec.name.clone(), self.tools.len());
        self.tools.push(compiled);
        Ok(self)
    }

    fn check_name(&self, new: &CompiledTool) -> Result<(), ToolkitError> {
        let spec = new.spec();
        let name = &spec.name;
        if name == STRUCTURED_OUTPUT || (name == RESET_TOOLS && self.reset.is_some()) {
            return Err(ToolkitError::ReservedName { name: name.clone() });
        }
        if let Some(known) = self.own(name) {
            let (first, second) = (known.spec().description.clone(), spec.description.clone());
            return Err(ToolkitError::DuplicateTool { name: name.clone(), first, second });
        }
        match self.sources.iter().find(|source| is_of(source.name(), name)) {
            Some(source) => {
                Err(ToolkitError::NameOfSource { tool: name.clone(), source_name: source.name().to_owned() })
            }
            None => Ok(()),
        }
    }

    /// Adds a group. Add it before its tools.
    ///
    /// # Errors
    ///
    /// The name is a duplicate, or the toolkit has a tool with the reserved name `reset_tools`.
    pub fn with_group(mut self, group: ToolGroup) -> Result<Self, ToolkitError> {
        if self.groups.iter().any(|known| known.name == group.name) {
            return Err(ToolkitError::DuplicateGroup { name: group.name });
        }
        if self.positions.contains_key(RESET_TOOLS) {
            return Err(ToolkitError::ReservedName { name: RESET_TOOLS.to_owned() });
        }
        self.groups.push(group);
        self.reset = Some(CompiledTool::new(ResetTools::new(&self.groups))?);
        Ok(self)
    }

    /// Adds the tools of a source, including future ones.
    ///
    /// # Errors
    ///
    /// The name conflicts with that of another source, or a tool has a name that is reserved for the source.
    pub fn with_source(mut self, source: Arc<dyn ToolSource>) -> Result<Self, ToolkitError> {
        let name = source.name();
        // `a` and `a__b` could both have a tool `a__b__c`.
        let overlaps = |known: &str| known == name || is_of(known, name) || is_of(name, known);
        if self.sources.iter().any(|known| overlaps(known.name())) {
            return Err(ToolkitError::ConflictingSource { name: name.to_owned() });
        }
        if let Some(tool) = self.tools.iter().find(|tool| is_of(name, &tool.spec().name)) {
            let tool = tool.spec().name.clone();
            return Err(ToolkitError::NameOfSource { tool, source_name: name.to_owned() });
        }
        self.sources.push(source);
        Ok(self)
    }

    /// The groups.
    pub fn groups(&self) -> &[ToolGroup] {
        &self.groups
    }

    /// Returns the groups that are active in a new agent.
    pub fn initially_active(&self) -> BTreeSet<String> {
        self.groups.iter().filter(|group| group.is_active).map(|group| group.name.clone()).collect()
    }

    /// Returns the instructions of the active groups.
    pub fn instructions(&self, active: &BTreeSet<String>) -> Vec<&str> {
        let active = self.groups.iter().filter(|group| active.contains(&group.name));
        active.filter_map(|group| group.instructions.as_deref()).collect()
    }

    /// Looks up a tool by its name.
    ///
    /// # Errors
    ///
    /// The tool does not exist, or its group is not active. The model receives the error.
    pub fn find(&self, name: &str, active: &BTreeSet<String>) -> Result<CompiledTool, ToolLookupError> {
        let tool = self.any(name).ok_or_else(|| ToolLookupError::Unknown {
            name: name.to_owned(),
            known: self.available(active).map(|tool| tool.spec().name.clone()).collect(),
        })?;
        match &tool.spec().group {
            Some(group) if !active.contains(group) => {
                Err(ToolLookupError::Inactive { name: name.to_owned(), group: group.clone() })
            }
            _ => Ok(tool),
        }
    }

    /// Returns the definitions of the available tools for a request to a model.
    pub fn definitions(&self, active: &BTreeSet<String>) -> Vec<format::Tool> {
        self.available(active).map(|tool| tool.definition()).collect()
    }

    /// Returns the tools that a model can call with these active groups.
    pub fn available(&self, active: &BTreeSet<String>) -> impl Iterator<Item = CompiledTool> {
        let of_sources = self.sources.iter().flat_map(|source| source.tools().to_vec());
        let all = self.tools.iter().chain(&self.reset).cloned().chain(of_sources);
        all.filter(|tool| tool.spec().group.as_ref().is_none_or(|group| active.contains(group)))
    }

    fn any(&self, name: &str) -> Option<CompiledTool> {
        self.own(name).or(self.reset.as_ref().filter(|reset| reset.spec().name == name)).cloned().or_else(|| {
            let source = self.sources.iter().find(|source| is_of(source.name(), name))?;
            source.tools().iter().find(|tool| tool.spec().name == name).cloned()
        })
    }

    fn own(&self, name: &str) -> Option<&CompiledTool> {
        self.tools.get(*self.positions.get(name)?)
    }
}

/// Returns whether a name is reserved for the tools of a source.
fn is_of(source: &str, name: &str) -> bool {
    name.strip_prefix(source).is_some_and(|rest| rest.starts_with("__"))
}

impl fmt::Debug for Toolkit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names =
            |tools: &[CompiledTool]| -> Vec<String> { tools.iter().map(|tool| tool.spec().name.clone()).collect() };
        f.debug_struct("Toolkit")
            .field("tools", &names(&self.tools))
            .field("groups", &self.groups)
            .field("sources", &self.sources.iter().map(|source| source.name()).collect::<Vec<_>>())
            .finish_non_exhaustive()
    }
}
