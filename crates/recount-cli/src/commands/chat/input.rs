//! What the user types.

/// What a line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    Message(String),
    Help,
    Tools,
    Compress,
    Model(Option<String>),
    Save(String),
    /// An image for the next message.
    Image(String),
    Quit,
    /// A command that is none, or that lacks something. This is what the user is told.
    Wrong(String),
}

/// The commands, and what they do.
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

/// What else there is to know.
pub(super) const HELP_BELOW: &str =
    "A line that ends in \\ goes on in the next one. A message that is to begin with / begins with //.";

impl Said {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        let Some(rest) = line.strip_prefix('/') else {
            return if line.is_empty() { Self::Nothing } else { Self::Message(line.to_owned()) };
        };
        if rest.starts_with('/') {
            return Self::Message(rest.to_owned());
        }
        let (word, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
        let argument = argument.trim();
        // A path is no command.
        if word.contains(|char: char| !char.is_ascii_alphabetic()) {
            return Self::Message(line.to_owned());
        }
        let given = |said: fn(String) -> Self, what: &str| {
            if argument.is_empty() { Self::Wrong(format!("`/{word}` needs {what}")) } else { said(unquoted(argument)) }
        };
        match word {
            "help" => Self::Help,
            "tools" => Self::Tools,
            "compress" => Self::Compress,
            "model" => Self::Model(Some(argument.to_owned()).filter(|name| !name.is_empty())),
            "save" => given(Self::Save, "a file"),
            "image" => given(Self::Image, "a path"),
            "quit" | "exit" => Self::Quit,
            _ => Self::Wrong(format!("there is no command `/{word}`; /help lists them")),
        }
    }
}

fn unquoted(text: &str) -> String {
    let inner = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    inner('"').or_else(|| inner('\'')).map_or_else(|| text.replace("\\ ", " "), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_messages_are_told_apart() {
        let message = |text: &str| Said::Message(text.to_owned());
        for (line, said) in [
            ("", Said::Nothing),
            ("  \t", Said::Nothing),
            (" Hello ", message("Hello")),
            ("/help", Said::Help),
            ("/compress", Said::Compress),
            ("/model", Said::Model(None)),
            ("/model openai/gpt-5", Said::Model(Some("openai/gpt-5".to_owned()))),
            ("/save  'my talk.md' ", Said::Save("my talk.md".to_owned())),
            ("/image my\\ cat.png", Said::Image("my cat.png".to_owned())),
            ("/save", Said::Wrong("`/save` needs a file".to_owned())),
            ("/quit", Said::Quit),
            ("/dance", Said::Wrong("there is no command `/dance`; /help lists them".to_owned())),
            ("//dance", message("/dance")),
            ("/home/me/cat.png who is this?", message("/home/me/cat.png who is this?")),
        ] {
            assert_eq!(Said::read(line), said, "{line:?}");
        }
    }
}
