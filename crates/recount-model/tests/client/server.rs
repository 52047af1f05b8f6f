//! A server that sends scripted responses and records the requests.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// A recorded request.
#[derive(Debug, Clone)]
pub(crate) struct ReceivedRequest {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Values by lower-case names.
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

/// A scripted response.
#[derive(Debug, Clone)]
pub(crate) struct ScriptedResponse {
    status: u16,
    headers: Vec<(String, String)>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone)]
enum Step {
    /// The head of the response, before the chunks of the body.
    Head,
    Send(Vec<u8>),
    /// The regular end of the body.
    End,
    /// Wait until the client closes the connection.
    Hang,
}

impl ScriptedResponse {
    /// A complete response.
    pub(crate) fn ok(body: impl Into<Vec<u8>>) -> Self {
        Self::status(200, body)
    }

    pub(crate) fn status(status: u16, body: impl Into<Vec<u8>>) -> Self {
        Self { status, headers: Vec::new(), steps: vec![Step::Head, Step::Send(body.into()), Step::End] }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A body in chunks of a size, each sent separately.
    pub(crate) fn pieces(body: &[u8], size: usize) -> Self {
        let pieces = body.chunks(size).map(|piece| Step::Send(piece.to_vec()));
        let steps = [Step::Head].into_iter().chain(pieces).chain([Step::End]).collect();
        Self { steps, ..Self::ok("") }
    }

    /// A response whose connection closes early.
    pub(crate) fn cut(body: impl Into<Vec<u8>>) -> Self {
        Self { steps: vec![Step::Head, Step::Send(body.into())], ..Self::ok("") }
    }

    /// A response that stops after its beginning.
    pub(crate) fn stuck(body: impl Into<Vec<u8>>) -> Self {
        Self { steps: vec![Step::Head, Step::Send(body.into()), Step::Hang], ..Self::ok("") }
    }

    /// No response.
    pub(crate) fn silence() -> Self {
        Self { steps: vec![Step::Hang], ..Self::ok("") }
    }

    /// A connection that closes without a response.
    pub(crate) fn nothing() -> Self {
        Self { steps: vec![], ..Self::ok("") }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Server {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// A permit for each connection that the client closed during a pending response.
    closed: Arc<Semaphore>,
}

impl Server {
    /// Starts a server that sends the responses in turn, and repeats the last one.
    pub(crate) async fn start(answers: impl IntoIterator<Item = ScriptedResponse>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = Self {
            address: listener.local_addr().unwrap(),
            requests: Arc::default(),
            closed: Arc::new(Semaphore::new(0)),
        };
        let answers: Vec<ScriptedResponse> = answers.into_iter().collect();
        let this = server.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (this, answers) = (this.clone(), answers.clone());
                tokio::spawn(async move { this.serve(stream, &answers).await });
            }
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// Returns the only request.
    #[track_caller]
    pub(crate) fn only_request(&self) -> ReceivedRequest {
        let [request] = <[ReceivedRequest; 1]>::try_from(self.requests()).expect("one request");
        request
    }

    /// Waits until the client has closed a connection with a pending response.
    pub(crate) async fn closed(&self) {
        self.closed.acquire().await.unwrap().forget();
    }

    async fn serve(&self, stream: TcpStream, answers: &[ScriptedResponse]) {
        let mut stream = BufReader::new(stream);
        let Some(request) = read_request(&mut stream).await else { return };
        let number = {
            let mut all = self.requests.lock().unwrap();
            all.push(request);
            all.len() - 1
        };
        let answer = answers.get(number).or(answers.last()).expect("an answer");
        // The client may disconnect at any time.
        let _ = self.answer(&mut stream, answer).await;
    }

    async fn answer(&self, stream: &mut BufReader<TcpStream>, answer: &ScriptedResponse) -> std::io::Result<()> {
        for step in &answer.steps {
            match step {
                Step::Head => {
                    let mut head = format!("HTTP/1.1 {} X\r\ntransfer-encoding: chunked\r\n", answer.status);
                    for (name, value) in &answer.headers {
                        head.push_str(&format!("{name}: {value}\r\n"));
                    }
                    head.push_str("connection: close\r\n\r\n");
                    stream.write_all(head.as_bytes()).await?;
                }
                Step::Send(bytes) if bytes.is_empty() => {}
                Step::Send(bytes) => {
                    let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
                    chunk.extend_from_slice(bytes);
                    chunk.extend_from_slice(b"\r\n");
                    stream.write_all(&chunk).await?;
                    stream.flush().await?;
                }
                Step::End => stream.write_all(b"0\r\n\r\n").await?,
                Step::Hang => {
                    let mut rest = Vec::new();
                    let _ = stream.read_to_end(&mut rest).await;
                    self.closed.add_permits(1);
                }
            }
        }
        stream.shutdown().await
    }
}

async fn read_request(stream: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut line = String::new();
    stream.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, path) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut headers = BTreeMap::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).await.ok()?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await.ok()?;
    Some(ReceivedRequest { method, path, headers, body: String::from_utf8(body).unwrap() })
}
