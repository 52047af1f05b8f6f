//! A minimal HTTP client, so that its own overhead does not affect the measurements.

use std::net::SocketAddr;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A connection for sequential requests.
#[derive(Debug)]
pub struct Client {
    stream: TcpStream,
    read: Vec<u8>,
}

/// A response.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The body.
    pub body: Vec<u8>,
}

impl Response {
    /// Returns the response if its status is 2xx.
    ///
    /// # Errors
    ///
    /// Returns an error with the status and body otherwise.
    pub fn success(self) -> anyhow::Result<Self> {
        let body = String::from_utf8_lossy(&self.body);
        anyhow::ensure!((200..300).contains(&self.status), "unexpected status {}: {body}", self.status);
        Ok(self)
    }
}

impl Client {
    /// Connects to a server.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection fails.
    pub async fn connect(address: SocketAddr) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::new() })
    }

    /// Sends a request and returns the response.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is closed.
    pub async fn request(&mut self, request: &[u8]) -> anyhow::Result<Response> {
        self.stream.write_all(request).await?;
        loop {
            if let Some((answer, length)) = self.parse_response()? {
                self.read.drain(..length);
                return Ok(answer);
            }
            anyhow::ensure!(self.stream.read_buf(&mut self.read).await? > 0, "the connection is closed");
        }
    }

    fn parse_response(&self) -> anyhow::Result<Option<(Response, usize)>> {
        let mut headers = [httparse::EMPTY_HEADER; 32];
        let mut response = httparse::Response::new(&mut headers);
        let httparse::Status::Complete(head) = response.parse(&self.read)? else { return Ok(None) };
        let length = response.headers.iter().find(|header| header.name.eq_ignore_ascii_case("content-length"));
        let length: usize = length.map_or(Ok("0"), |header| std::str::from_utf8(header.value))?.parse()?;
        let status = response.code.context("the response has no status")?;
        let body = self.read.get(head..head + length);
        Ok(body.map(|body| (Response { status, body: body.to_vec() }, head + length)))
    }
}

/// Returns a request. An empty body is omitted.
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

/// An open event stream.
#[derive(Debug)]
pub struct Stream {
    stream: TcpStream,
    /// The incomplete last line.
    rest: Vec<u8>,
}

impl Stream {
    /// Connects, requests a stream, and waits for the head of the response.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection fails or the status is not 200.
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

    /// Waits for data and calls `each` for each complete line. Returns whether the stream is still open.
    ///
    /// # Errors
    ///
    /// Returns an error if the connection is closed.
    pub async fn lines(&mut self, mut each: impl FnMut(&[u8])) -> anyhow::Result<bool> {
        if let Some(end) = memchr::memrchr(b'\n', &self.rest) {
            let came_with_head: Vec<u8> = self.rest.drain(..=end).collect();
            came_with_head.split_inclusive(|byte| *byte == b'\n').for_each(each);
            return Ok(true);
        }
        self.stream.readable().await?;
        // On the stack, so that thousands of readers do not each keep a buffer.
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
