//! Tool groups.

/// A group of tools that a model activates together, so that it sees only the tools that its task needs.
///
/// ```
/// use recount_agent::tool::ToolGroup;
///
/// let group = ToolGroup::new("browser", "Looks at web pages.").instructions("Open a page before you click.").active();
/// assert!(group.is_active);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ToolGroup {
    /// The name.
    pub name: String,
    /// The description, by which the model decides whether it needs the group.
    pub description: String,
    /// The instructions for the model while the group is active. `None` for none.
    pub instructions: Option<String>,
    /// Whether the group is active in a new agent.
    pub is_active: bool,
}

impl ToolGroup {
    /// Creates a group that is not active.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), instructions: None, is_active: false }
    }

    /// Sets the instructions for the model while the group is active.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Makes the group active in a new agent.
    #[must_use]
    pub fn active(mut self) -> Self {
        self.is_active = true;
        self
    }
}
