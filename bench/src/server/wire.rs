//! As much of HTTP as the load needs, so that it is the service that is measured and not who asks it.

use std::net::SocketAddr;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection for one request after the other.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// What was answered.
#[derive(Debug)]
pub struct Answer {
    /// Whether it went well.
    pub status: u16,
    /// The text.
    pub body: Vec<u8>,
}

impl Answer {
    /// The answer, if it went well.
    ///
    /// # Errors
    ///
    /// When it did not.
    pub fn success(self) -> anyhow::Result<Self> {
        let body = String::from_utf8_lossy(&self.body);
        anyhow::ensure!((200..300).contains(&self.status), "the answer is {}: {body}", self.status);
        Ok(self)
    }
}

impl Client {
    /// Connects.
    ///
    /// # Errors
    ///
    /// When nobody is there.
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::new() })
    }

    /// Sends a request, and gives the answer.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<Answer> {
        self.stream.write_all(request).await?;
        loop {
            if let Some((answer, length)) = self.answer()? {
                self.read.drain(..length);
                return Ok(answer);
            }
            anyhow::ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the connection is closed");
        }
    }

    fn answer(&self) -> anyhow::Result<Option<(Answer, usize)>> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = response.parse(&self.read)? else { return Ok(None) };
        let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.map_or(Ok("0"), |header| std::str::from_utf8(header.value))?.parse()?;
        let status = response.code.context("the answer has no status")?;
        let body = self.read.get(head..head + length);
        Ok(body.map(|body| (Answer { status, body: body.to_vec() }, head + length)))
    }
}

/// A request with a body; an empty one is left out.
pub fn request(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    let mut request = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\n").into_bytes();
    if !body.is_empty() {
        let length = body.len();
        request.extend(format!("content-type: application/x-ndjson\r\ncontent-length: {length}\r\n").into_bytes());
    }
    request.extend(b"\r\n");
    request.extend(body);
    request
}

/// A stream of events that has begun.
#[derive(Debug)]
pub struct Stream {
    stream: TcpStream,
    /// The beginning of a line.
    rest: Vec<u8>,
}

impl Stream {
    /// Connects, asks for a stream, and waits for the head of the answer.
    ///
    /// # Errors
    ///
    /// When nobody is there, or when the answer is another one.
    pub async fn open(address: SocketAddr, path: &str) -> anyhow::Result<Self> {
        let mut stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        let accept = "accept: text/event-stream\r\n\r\n";
        stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n{accept}").as_bytes()).await?;
        let mut read = Vec::new();
        loop {
            anyhow::ensure!(stream.read_buf(&mut read).await? > 0, "the stream is closed");
            let mut headers = [httparse::EMPTY_HEADER; 32];
            let mut response = httparse::Response::new(&mut headers);
            if let httparse::Status::Complete(head) = response.parse(&read)? {
                anyhow::ensure!(
                    response.code == Some(200),
                    "the stream is refused: {}",
                    String::from_utf8_lossy(&read)
                );
                read.drain(..head);
                return Ok(Self { stream, rest: read });
            }
        }
    }

    /// Gives each whole line that is there, waiting for some. Whether the stream goes on.
    ///
    /// # Errors
    ///
    /// When the connection breaks.
    pub async fn lines(&mut self, mut each: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        if let Some(end) = memchr::memrchr(b'\n', &self.rest) {
            let came_with_head: Vec<u8> = self.rest.drain(..=end).collect();
            came_with_head.split_inclusive(|byte| *byte == b'\n').for_each(each);
            return Ok(true);
        }
        self.stream.readable().await?;
        // On the stack, so that thousands of readers do not each have one.
        let mut buffer = [0; 8 * 1024];
        let length = match self.stream.try_read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) => return Err(error.into()),
        };
        let mut new = buffer.get(..length).unwrap_or_default();
        while let Some(end) = memchr::memchr(b'\n', new) {
            let (line, after) = new.split_at(end + 1);
            if self.rest.is_empty() {
                each(line);
            } else {
                self.rest.extend_from_slice(line);
                each(&self.rest);
                self.rest.clear();
            }
            new = after;
        }
        self.rest.extend_from_slice(new);
        Ok(true)
    }
}
