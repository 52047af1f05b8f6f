//! Parses the lines that the user types.

/// A parsed line of input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Input {
    Empty,
    Message(String),
    Help,
    Tools,
    Compress,
    Model(Option<String>),
    Save(String),
    /// An image for the next message, by its path.
    Image(String),
    Quit,
    /// An unknown command, or one without its argument. Holds the error message.
    Invalid(String),
}

/// The commands and their descriptions.
pub(super) const HELP: &[(&str, &str)] = &[
    ("/help", "this list"),
    ("/tools", "the tools that the agent has"),
    ("/model", "the model; /model NAME takes another one from the next message on"),
    ("/compress", "has what was said so far summed up for the model, before it is asked the next time"),
    ("/image PATH", "sends an image along with the next message; a path in the text does so too"),
    (
        "/save FILE",
        "keeps the conversation: as Markdown for .md, as messages in JSON lines for anything else. For .png and the like it \
         keeps the last image",
    ),
    ("/quit", "leaves, as Ctrl-D does"),
    ("Ctrl-C", "stops a reply"),
];

/// The text below the list of commands.
pub(super) const HELP_FOOTER: &str =
    "A line that ends in \\ goes on in the next one. A message that is to begin with / begins with //.";

impl Input {
    pub(super) fn parse(line: &str) -> Self {
        let line = line.trim();
        let Some(rest) = line.strip_prefix('/') else {
            return if line.is_empty() { Self::Empty } else { Self::Message(line.to_owned()) };
        };
        if rest.starts_with('/') {
            return Self::Message(rest.to_owned());
        }
        let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let argument = argument.trim();
        // A word with other characters is a path, not a command.
        if word.contains(|char: char| !char.is_ascii_alphabetic()) {
            return Self::Message(line.to_owned());
        }
        let with_argument = |input: fn(String) -> Self, what: &str| {
            if argument.is_empty() {
                Self::Invalid(format!("`/{word}` needs {what}"))
            } else {
                input(unquote(argument))
            }
        };
        match word {
            "help" => Self::Help,
            "tools" => Self::Tools,
            "compress" => Self::Compress,
            "model" => Self::Model(Some(argument.to_owned()).filter(|name| !name.is_empty())),
            "save" => with_argument(Self::Save, "a file"),
            "image" => with_argument(Self::Image, "a path"),
            "quit" | "exit" => Self::Quit,
            _ => Self::Invalid(format!("there is no command `/{word}`; /help lists them")),
        }
    }
}

fn unquote(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).map_or_else(|| text.replace("\\ ", " "), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parse_distinguishes_commands_from_messages() {
        let message = |text: &str| Input::Message(text.to_owned());
        for (line, input) in [
            ("", Input::Empty),
            ("  \t", Input::Empty),
            (" Hello ", message("Hello")),
            ("/help", Input::Help),
            ("/compress", Input::Compress),
            ("/model", Input::Model(None)),
            ("/model openai/gpt-5", Input::Model(Some("openai/gpt-5".to_owned()))),
            ("/save  'my talk.md' ", Input::Save("my talk.md".to_owned())),
            ("/image my\\ cat.png", Input::Image("my cat.png".to_owned())),
            ("/save", Input::Invalid("`/save` needs a file".to_owned())),
            ("/quit", Input::Quit),
            ("/dance", Input::Invalid("there is no command `/dance`; /help lists them".to_owned())),
            ("//dance", message("/dance")),
            ("/home/me/cat.png who is this?", message("/home/me/cat.png who is this?")),
        ] {
            assert_eq!(Input::parse(line), input, "{line:?}");
        }
    }
}
