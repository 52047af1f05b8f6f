//! The texts of the demo model.

use recount_message::DataBlock;

/// The text with an image.
pub(super) const PICTURE: &str = "This image was computed by the demo model.\n";

/// The text of an agent without a shell.
pub(super) const NO_SHELL: &str = "I would call `shell` now, but this agent does not have that tool.\n";

/// The maximum length of a quoted tool output, in characters.
const MAX_OUTPUT: usize = 600;

/// The maximum length of a quoted question, in characters.
const MAX_QUESTION: usize = 80;

/// The answer to a message without keywords.
pub(super) fn introduction(question: &str, is_first: bool) -> String {
    let quoted = truncated(&question.split_whitespace().collect::<Vec<_>>().join(" "), MAX_QUESTION);
    let heard = if quoted.is_empty() { String::new() } else { format!("You wrote: “{quoted}”\n\n") };
    if !is_first {
        return format!(
            "{heard}I am still the *demo model* and understand only keywords. \
             They are `tool`, `think`, `image` and `long`.\n"
        );
    }
    format!(
        "{heard}This is Recount's **demo model**: a script, not a language model. \
         Its answers depend only on keywords in your message.\n\n\
         - `tool` or `shell`: I ask to run a command\n\
         - `think`: I think before I speak\n\
         - `image`: I show an image\n\
         - `long`: I write 500 words\n\n\
         For real answers, choose a model of a provider.\n"
    )
}

/// The thinking.
pub(super) fn thoughts(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!(
        "This message contains {}. A script does not need to think, but this is what thinking looks like: it comes \
         before the answer and is displayed separately.",
        words.join(", ")
    )
}

/// The text about attachments.
pub(super) fn received(media: &[&DataBlock]) -> String {
    let kinds: Vec<String> = media.iter().map(|block| format!("`{}`", block.media_type())).collect();
    format!("I have received {}. A script cannot look at it.\n\n", kinds.join(", "))
}

/// The text before a call.
pub(super) fn before_call(name: &str) -> String {
    format!("I call `{name}`. If it can change something, you are asked first.\n")
}

/// Quotes the output of a tool.
pub(super) fn output(who: &str, name: &str, verb: &str, output: &str) -> String {
    let shown = truncated(output.trim_end(), MAX_OUTPUT);
    // The output may contain fences.
    let fence = if shown.contains("```") { "~~~~~~" } else { "```" };
    format!("{who} `{name}` {verb}\n\n{fence}\n{shown}\n{fence}\n")
}

/// Returns a text of 500 words.
pub(super) fn five_hundred_words() -> String {
    const SENTENCES: [&str; 8] = [
        "A message is the fold of its events, and nothing else.",
        "Every reader of the events ends up with the same message, from any cursor.",
        "Close this window and open it again: the reply continues in the meantime.",
        "Every word on this page was committed to a log before it was displayed.",
        "A reply does not depend on a connection, so a lost connection costs nothing.",
        "These sentences repeat, because a script has a limited text.",
        "A reader receives each entry once and in order.",
        "You can interrupt this reply: the text up to then is kept.",
    ];
    const WORDS: usize = 500;
    let mut text = String::new();
    let mut count = 0;
    'paragraphs: for paragraph in 1.. {
        for sentence in std::iter::once(format!("**Paragraph {paragraph}.**")).chain(SENTENCES.map(str::to_owned)) {
            for word in sentence.split(' ') {
                text.push_str(word);
                count += 1;
                if count == WORDS {
                    break 'paragraphs;
                }
                text.push(' ');
            }
        }
        text.truncate(text.trim_end().len());
        text.push_str("\n\n");
    }
    if !text.ends_with('.') {
        text.push('.');
    }
    text.push('\n');
    text
}

/// Truncates a text to a number of characters.
fn truncated(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
