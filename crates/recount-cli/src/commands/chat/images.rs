//! Attaches images to messages.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use recount_message::{DataBlock, MediaBlock, Msg};

use super::super::ask;

const EXTENSIONS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// Loads an image by its path or URL.
pub(super) fn image(path_or_url: &str) -> Result<DataBlock> {
    ask::data(&expand_home(path_or_url))
}

/// Creates a message with the given images and those that its text names. Also returns an error message for each image
/// that cannot be attached.
pub(super) fn message(text: &str, given: Vec<DataBlock>) -> (Msg, Vec<String>) {
    let (mut images, mut errors) = (given, Vec::new());
    for path in image_paths(text) {
        match image(&path) {
            Ok(image) => images.push(image),
            Err(error) => errors.push(format!("{error:#}; the message goes without it")),
        }
    }
    let images = images.into_iter().map(MediaBlock::from);
    let content: Vec<MediaBlock> = images.chain([MediaBlock::from(text.to_owned())]).collect();
    (Msg::user("user", content), errors)
}

/// Returns the paths of existing image files in a text.
fn image_paths(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| is_image(Path::new(&expand_home(word)))).collect()
}

fn is_image(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).map(str::to_ascii_lowercase);
    extension.is_some_and(|extension| EXTENSIONS.contains(&extension.as_str())) && path.is_file()
}

/// Splits a text into words with shell quoting, which terminals use for paths that are dropped on them.
fn words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match (char, quote) {
            ('\\', None) => word.extend(chars.next()),
            (char, Some(open)) if char == open => quote = None,
            ('"' | '\'', None) if word.is_empty() => quote = Some(char),
            (char, None) if char.is_whitespace() => words.push(std::mem::take(&mut word)),
            (char, _) => word.push(char),
        }
    }
    words.push(word);
    words.into_iter().map(|word| word.trim_end_matches(['?', ',', ';', ':', '!']).to_owned()).collect()
}

/// Replaces a leading `~/` by the home directory.
pub(super) fn expand_home(path: &str) -> String {
    let home = || env::var_os("HOME").map(PathBuf::from);
    match path.strip_prefix("~/").zip(home()) {
        Some((rest, home)) => home.join(rest).display().to_string(),
        None => path.to_owned(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test fails by panicking")]
mod tests {
    use super::*;

    #[test]
    fn words_are_split_with_shell_quoting() {
        assert_eq!(words("look at 'my cat.png', it's a\\ cat.png?"), ["look", "at", "my cat.png", "it's", "a cat.png"]);
    }

    #[test]
    fn message_attaches_only_valid_existing_images() {
        let directory = env::temp_dir().join(format!("recount-images-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (cat, notes) = (directory.join("a cat.GIF"), directory.join("notes.txt"));
        std::fs::write(&cat, b"GIF89a").unwrap();
        std::fs::write(&notes, b"text").unwrap();
        let text = format!("Compare \"{}\" and {} with missing.png", cat.display(), notes.display());
        let (sent, errors) = message(&text, Vec::new());
        assert_eq!((sent.text().unwrap(), errors), (text, Vec::new()));
        let images: Vec<&DataBlock> = sent.blocks().collect();
        assert_eq!(images.len(), 1);
        assert_eq!((images[0].media_type(), images[0].name.as_deref()), ("image/gif", Some("a cat.GIF")));
        for (name, content, why) in [
            ("text.png", &b"no image"[..], "it is no image"),
            ("empty.jpg", b"", "it is empty"),
            ("half.png", b"\x89PN", "it is no image"),
        ] {
            let path = directory.join(name);
            std::fs::write(&path, content).unwrap();
            let (sent, errors) = message(&format!("What is on {}?", path.display()), Vec::new());
            assert!(!sent.has::<DataBlock>(), "{name}");
            assert!(errors[0].ends_with(&format!("{why}; the message goes without it")), "{errors:?}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
