//! Images that a message names by their path.

use std::env;
use std::path::{Path, PathBuf};

use anyhow::Result;
use recount_message::{DataBlock, MediaBlock, Msg};

use super::super::ask;

const ENDINGS: [&str; 5] = ["png", "jpg", "jpeg", "gif", "webp"];

/// An image by its path or URL.
pub(super) fn image(place: &str) -> Result<DataBlock> {
    ask::data(&at_home(place))
}

/// A message with the images that were given for it and those that its text names, and why some of those do not go along.
pub(super) fn message(text: &str, given: Vec<DataBlock>) -> (Msg, Vec<String>) {
    let (mut images, mut left_out) = (given, Vec::new());
    for path in named(text) {
        match image(&path) {
            Ok(image) => images.push(image),
            Err(why) => left_out.push(format!("{why:#}; the message goes without it")),
        }
    }
    let images = images.into_iter().map(MediaBlock::from);
    let content: Vec<MediaBlock> = images.chain([MediaBlock::from(text.to_owned())]).collect();
    (Msg::user("user", content), left_out)
}

/// The paths of images in a text, those that exist.
fn named(text: &str) -> Vec<String> {
    words(text).into_iter().filter(|word| is_image(Path::new(&at_home(word)))).collect()
}

fn is_image(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) && path.is_file()
}

/// The words of a text, as a shell reads them: terminals write paths so that are dropped on them.
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

/// A path in which `~` is the home directory.
pub(super) fn at_home(path: &str) -> String {
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
    fn words_are_read_as_a_shell_does() {
        assert_eq!(words("look at 'my cat.png', it's a\\ cat.png?"), ["look", "at", "my cat.png", "it's", "a cat.png"]);
    }

    #[test]
    fn only_images_that_exist_are_sent() {
        let directory = env::temp_dir().join(format!("recount-images-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let (cat, notes) = (directory.join("a cat.GIF"), directory.join("notes.txt"));
        std::fs::write(&cat, b"GIF89a").unwrap();
        std::fs::write(&notes, b"text").unwrap();
        let text = format!("Compare \"{}\" and {} with missing.png", cat.display(), notes.display());
        let (sent, left_out) = message(&text, Vec::new());
        assert_eq!((sent.text().unwrap(), left_out), (text, Vec::new()));
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
            let (sent, left_out) = message(&format!("What is on {}?", path.display()), Vec::new());
            assert!(!sent.has::<DataBlock>(), "{name}");
            assert!(left_out[0].ends_with(&format!("{why}; the message goes without it")), "{left_out:?}");
        }
        std::fs::remove_dir_all(&directory).unwrap();
    }
}
