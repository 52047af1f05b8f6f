//! The words of the demo model.

use recount_message::DataBlock;

/// Said with a picture.
pub(super) const PICTURE: &str = "This picture was computed, and nobody has drawn it.\n";

/// Said where there is no shell to call.
pub(super) const NO_SHELL: &str = "I would call `shell` now, but this agent does not have that tool.\n";

/// How much of a tool's output is repeated.
const MOST_REPEATED: usize = 600;

/// How much of a question is repeated.
const MOST_QUOTED: usize = 80;

/// What it says where no word asks for anything else.
pub(super) fn introduction(question: &str, is_first: bool) -> String {
    let quoted = shortened(&question.split_whitespace().collect::<Vec<_>>().join(" "), MOST_QUOTED);
    let heard = if quoted.is_empty() { String::new() } else { format!("You wrote: “{quoted}”\n\n") };
    if !is_first {
        return format!(
            "{heard}I am still the *demo model* and did not understand a word. \
             I know `tool`, `think`, `image` and `long`.\n"
        );
    }
    format!(
        "{heard}This is Recount's **demo model**: a script, and no language model. \
         What I say depends on words in your message and on nothing else.\n\n\
         - `tool` or `shell`: I ask to run a command\n\
         - `think`: I think before I speak\n\
         - `image`: I show a picture\n\
         - `long`: I talk for 500 words\n\n\
         For real answers, choose a model of a provider.\n"
    )
}

/// What it thinks.
pub(super) fn thoughts(words: &[&str]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
    format!(
        "In this message I find {}. A script need not think about that, but this is what thinking looks like: it comes \
         before the answer and stands apart from it.",
        words.join(", ")
    )
}

/// Said of what the user has sent along.
pub(super) fn received(media: &[&DataBlock]) -> String {
    let kinds: Vec<String> = media.iter().map(|block| format!("`{}`", block.media_type())).collect();
    format!("I have received {}, and cannot look at it: a script has no eyes.\n\n", kinds.join(", "))
}

/// Said before a call.
pub(super) fn before_call(name: &str) -> String {
    format!("I call `{name}`. If that is more than looking, you are asked first.\n")
}

/// What a tool has said.
pub(super) fn output(who: &str, name: &str, verb: &str, output: &str) -> String {
    let shown = shortened(output.trim_end(), MOST_REPEATED);
    // What is quoted may have fences of its own.
    let fence = if shown.contains("```") { "~~~~~~" } else { "```" };
    format!("{who} `{name}` {verb}\n\n{fence}\n{shown}\n{fence}\n")
}

/// A text of five hundred words.
pub(super) fn five_hundred_words() -> String {
    const SENTENCES: [&str; 8] = [
        "A message is the fold of its events, and nothing else.",
        "Whoever reads those events ends up with the same message, wherever they joined.",
        "Close this window and open it again: the reply has gone on meanwhile.",
        "Every word that you read now stood in a log before it stood here.",
        "A connection is never the run, so losing one costs nothing.",
        "These sentences repeat, because a script has only so much to say.",
        "A reader at a cursor sees each entry once and in order.",
        "Stop me whenever you like: what I have said until then stays.",
    ];
    const WORDS: usize = 500;
    let mut text = String::new();
    let mut said = 0;
    'paragraphs: for paragraph in 1.. {
        for sentence in std::iter::once(format!("**Paragraph {paragraph}.**")).chain(SENTENCES.map(str::to_owned)) {
            for word in sentence.split(' ') {
                text.push_str(word);
                said += 1;
                if said == WORDS {
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

/// The beginning of a text, if it is too long.
fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
