//! Groups of tools.

/// Tools that are switched on and off together, so that a model sees only those that its task needs.
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
    /// Its name.
    pub name: String,
    /// What the model is told of it, to decide whether it needs it.
    pub description: String,
    /// What the model is told once the group is active: how its tools are used together.
    pub instructions: Option<String>,
    /// Whether it is active when an agent begins.
    pub is_active: bool,
}

impl ToolGroup {
    /// A group that is not active yet.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), instructions: None, is_active: false }
    }

    /// How its tools are used together.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// It is active from the beginning.
    #[must_use]
    pub fn active(mut self) -> Self {
        self.is_active = true;
        self
    }
}
