//! Deterministic streams of events, in the exact JSON of AgentScope for Python 2.0.10.

mod material;
mod writer;

use material::{ARGUMENTS, FOREIGN, OUTPUT, PROSE, Source};
use writer::{Call, Writer};

/// A stream of events as JSON lines.
#[derive(Debug, Clone)]
pub struct Stream {
    /// The name in the table.
    pub name: String,
    /// The lines, each with a line break.
    pub text: String,
    /// The number of events.
    pub events: usize,
}

impl Stream {
    /// Returns the lines without line breaks.
    pub fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }

    /// Returns the lines as bytes, as they arrive from a socket or a file.
    pub fn byte_lines(&self) -> Vec<&[u8]> {
        self.text.lines().map(str::as_bytes).collect()
    }
}

/// Returns one text block with deltas of twelve characters.
pub fn text(deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    writer.reply(|writer| {
        let block = writer.start_text();
        for _ in 0..deltas {
            writer.text_delta(&block, &prose.take(12));
        }
        writer.end_text(&block);
    });
    writer.into_stream("text")
}

/// The numbers of blocks per message for which growth is measured.
pub const BLOCKS: [usize; 4] = [10, 100, 1_000, 5_000];

/// The numbers of data deltas per message for which growth is measured.
pub const DATA_DELTAS: [usize; 3] = [100, 1_000, 4_000];

/// Returns 5,000 text blocks with ten deltas each, in messages of `size` blocks.
pub fn blocks_of_size(size: usize) -> Stream {
    blocks_of_messages(5_000 / size, size, 10)
}

/// As [`blocks_of_size`], with all blocks of a message open at the same time.
pub fn open_blocks_of_size(size: usize) -> Stream {
    open_blocks_of_messages(5_000 / size, size, 10)
}

/// Returns 4,000 data deltas of 4,800 bytes each, in messages of `size` deltas.
pub fn data_of_size(size: usize) -> Stream {
    data_of_messages(4_000 / size, size, 4_800)
}

/// Returns one message with consecutive text blocks.
pub fn blocks(blocks: usize, deltas: usize) -> Stream {
    blocks_of_messages(1, blocks, deltas)
}

/// Returns several messages with consecutive text blocks.
pub fn blocks_of_messages(messages: usize, blocks: usize, deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    for _ in 0..messages {
        writer.reply(|writer| {
            for _ in 0..blocks {
                let block = writer.start_text();
                for _ in 0..deltas {
                    writer.text_delta(&block, &prose.take(12));
                }
                writer.end_text(&block);
            }
        });
    }
    writer.into_stream("blocks")
}

/// Returns messages whose text blocks are all open at the same time. Consecutive deltas belong to different blocks.
pub fn open_blocks_of_messages(messages: usize, blocks: usize, deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut prose = Source::new(PROSE);
    for _ in 0..messages {
        writer.reply(|writer| {
            let mut open: Vec<String> = (0..blocks).map(|_| writer.start_text()).collect();
            for _ in 0..deltas {
                writer.random.shuffle(&mut open);
                for block in &open {
                    writer.text_delta(block, &prose.take(12));
                }
            }
            for block in &open {
                writer.end_text(block);
            }
        });
    }
    writer.into_stream("open blocks")
}

/// Returns one tool call with arguments in many deltas.
pub fn arguments(deltas: usize) -> Stream {
    let mut writer = Writer::new();
    let mut json = Source::new(ARGUMENTS);
    writer.reply(|writer| {
        let call = writer.start_call("write_file");
        for _ in 0..deltas {
            writer.call_delta(&call, &json.take(12));
        }
        writer.end_call(&call);
    });
    writer.into_stream("arguments")
}

/// Returns an image of `bytes` bytes in `deltas` base64 deltas.
pub fn data(bytes: usize, deltas: usize) -> Stream {
    data_of_messages(1, deltas, bytes / deltas.max(1))
}

/// Returns messages with an image each, in deltas of `piece` bytes.
pub fn data_of_messages(messages: usize, deltas: usize, piece: usize) -> Stream {
    let mut writer = Writer::new();
    for _ in 0..messages {
        writer.reply(|writer| {
            let block = writer.start_data();
            for _ in 0..deltas {
                let base64 = writer.random.base64(piece);
                writer.data_delta(&block, &base64);
            }
            writer.end_data(&block);
        });
    }
    writer.into_stream("data")
}

/// Returns a realistic session: replies with thinking, text, parallel tool calls, results, confirmations, external tools, hints,
/// images and usage. It ends with the first reply after `events` events.
pub fn mixed(events: usize) -> Stream {
    let mut writer = Writer::new();
    let mut session = Session {
        prose: Source::new(PROSE),
        foreign: Source::new(FOREIGN),
        json: Source::new(ARGUMENTS),
        output: Source::new(OUTPUT),
    };
    while writer.events < events {
        session.reply(&mut writer);
    }
    writer.into_stream("mixed")
}

/// The sources of the content of a session.
struct Session {
    prose: Source,
    foreign: Source,
    json: Source,
    output: Source,
}

impl Session {
    fn reply(&mut self, writer: &mut Writer) {
        writer.start_reply();
        if writer.random.one_in(4) {
            let hint = self.prose.take(160);
            writer.hint(&hint);
        }
        for _ in 0..writer.random.between(0, 4) {
            self.round(writer);
        }
        writer.start_model_call();
        self.thinking(writer);
        self.answer(writer);
        writer.end_model_call();
        writer.end_reply();
    }

    /// Writes a model call that requests tools, and their results.
    fn round(&mut self, writer: &mut Writer) {
        writer.start_model_call();
        self.thinking(writer);
        if writer.random.one_in(2) {
            self.answer(writer);
        }
        let calls: Vec<Call> = (0..writer.random.between(1, 3)).map(|_| self.call(writer)).collect();
        writer.end_model_call();
        if writer.random.one_in(8) {
            let output = self.output.take(400);
            writer.run_elsewhere(&calls, &output);
            return;
        }
        let confirmed = !writer.random.one_in(3) || {
            let confirmed = !writer.random.one_in(5);
            writer.confirm(&calls, confirmed);
            confirmed
        };
        self.results(writer, &calls, confirmed);
    }

    fn thinking(&mut self, writer: &mut Writer) {
        let block = writer.start_thinking();
        for _ in 0..writer.random.between(10, 60) {
            let length = writer.random.between(3, 20);
            writer.thinking_delta(&block, &self.prose.take(length));
        }
        writer.end_thinking(&block);
    }

    fn answer(&mut self, writer: &mut Writer) {
        let source = if writer.random.one_in(5) { &mut self.foreign } else { &mut self.prose };
        let block = writer.start_text();
        for _ in 0..writer.random.between(5, 80) {
            let length = writer.random.between(3, 20);
            writer.text_delta(&block, &source.take(length));
        }
        writer.end_text(&block);
    }

    fn call(&mut self, writer: &mut Writer) -> Call {
        let mut call = writer.start_call("write_file");
        for _ in 0..writer.random.between(3, 20) {
            let length = writer.random.between(3, 20);
            let piece = self.json.take(length);
            writer.call_delta(&call, &piece);
            call.input.push_str(&piece);
        }
        writer.end_call(&call);
        call
    }

    /// Writes the interleaved results of parallel tools.
    fn results(&mut self, writer: &mut Writer, calls: &[Call], confirmed: bool) {
        for call in calls {
            writer.start_result(call);
        }
        for _ in 0..writer.random.between(1, 12) {
            for call in calls {
                let length = writer.random.between(20, 200);
                writer.result_text(call, &self.output.take(length));
            }
        }
        for call in calls {
            if writer.random.one_in(10) {
                let image = writer.random.base64(3_000);
                writer.result_data(call, &image);
            }
            writer.end_result(call, if confirmed { "success" } else { "denied" });
        }
    }
}

#[cfg(test)]
mod tests {
    use recount_message::{DecodeError, Event, Fold, Msg, Outcome};

    use super::*;
    use crate::steps;

    #[track_caller]
    fn check(stream: &Stream, events: usize, messages: usize) -> Result<(), DecodeError> {
        let lines = stream.lines();
        assert_eq!((lines.len(), stream.events), (events, events));
        let mut fold = Fold::new();
        for line in lines {
            let event = Event::from_json(line)?;
            assert_eq!(event.to_json(), line);
            assert_eq!(fold.apply(&event), Outcome::Applied);
        }
        assert_eq!(fold.messages().count(), messages);
        assert_eq!(fold.open_replies().count(), 0);
        Ok(())
    }

    #[test]
    fn generated_events_are_canonical_and_fold() -> Result<(), DecodeError> {
        check(&text(100), 106, 1)?;
        check(&blocks(5, 10), 64, 1)?;
        check(&blocks_of_messages(3, 5, 10), 192, 3)?;
        check(&open_blocks_of_messages(2, 5, 10), 128, 2)?;
        check(&arguments(100), 106, 1)?;
        check(&data(10_000, 10), 16, 1)?;
        check(&data_of_messages(2, 10, 3_600), 32, 2)?;
        let session = mixed(2_000);
        check(&session, session.events, session.text.matches("REPLY_START").count())
    }

    #[test]
    fn data_deltas_with_padding_are_concatenated_as_bytes() -> Result<(), DecodeError> {
        let stream = data(1_000, 10);
        let fold = steps::bytes_to_message(&stream.byte_lines())?;
        let message: String = fold.messages().map(Msg::to_json).collect();
        assert_eq!(message.matches('=').count(), 2);
        Ok(())
    }
}
