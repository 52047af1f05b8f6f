//! Listeners of the host that no attempt may reach.

use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram, UnixListener};
use std::path::Path;

/// Listeners of the network and in the abstract name space, which last as long as the worker.
pub(crate) struct Listeners {
    tcp: TcpListener,
    tcp6: Option<TcpListener>,
    udp: UdpSocket,
    abstract_stream: UnixListener,
    abstract_datagram: UnixDatagram,
    /// Sockets in the file system, which are created for each attempt.
    named: Vec<(UnixListener, UnixDatagram)>,
}

impl Listeners {
    pub(crate) fn create(abstract_name: &str) -> Self {
        let address = |name: &str| SocketAddr::from_abstract_name(name.as_bytes()).unwrap();
        let listeners = Self {
            tcp: TcpListener::bind("0.0.0.0:0").unwrap(),
            tcp6: TcpListener::bind("[::1]:0").ok(),
            udp: UdpSocket::bind("127.0.0.1:0").unwrap(),
            abstract_stream: UnixListener::bind_addr(&address(abstract_name)).unwrap(),
            abstract_datagram: UnixDatagram::bind_addr(&address(&format!("{abstract_name}-dgram"))).unwrap(),
            named: Vec::new(),
        };
        listeners.tcp.set_nonblocking(true).unwrap();
        listeners.tcp6.iter().for_each(|listener| listener.set_nonblocking(true).unwrap());
        listeners.udp.set_nonblocking(true).unwrap();
        listeners.abstract_stream.set_nonblocking(true).unwrap();
        listeners.abstract_datagram.set_nonblocking(true).unwrap();
        listeners
    }

    /// Creates the sockets of one attempt in these directories.
    pub(crate) fn bind_in(&mut self, directories: &[&Path]) {
        self.named.clear();
        for directory in directories {
            for name in ["host.sock", "host.dgram"] {
                let _ = std::fs::remove_file(directory.join(name));
            }
            let stream = UnixListener::bind(directory.join("host.sock")).unwrap();
            let datagram = UnixDatagram::bind(directory.join("host.dgram")).unwrap();
            stream.set_nonblocking(true).unwrap();
            datagram.set_nonblocking(true).unwrap();
            self.named.push((stream, datagram));
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.tcp.local_addr().unwrap().port()
    }

    pub(crate) fn port6(&self) -> Option<u16> {
        self.tcp6.as_ref().map(|listener| listener.local_addr().unwrap().port())
    }

    pub(crate) fn udp_port(&self) -> u16 {
        self.udp.local_addr().unwrap().port()
    }

    /// The listeners that have received something since the last call.
    pub(crate) fn received(&self) -> Vec<&'static str> {
        let mut received = Vec::new();
        let mut note = |name, is_received: bool| {
            if is_received {
                received.push(name);
            }
        };
        let mut buffer = [0; 64];
        note("tcp", self.tcp.accept().is_ok());
        note("tcp6", self.tcp6.as_ref().is_some_and(|listener| listener.accept().is_ok()));
        note("udp", self.udp.recv(&mut buffer).is_ok());
        note("abstract stream", self.abstract_stream.accept().is_ok());
        note("abstract datagram", self.abstract_datagram.recv(&mut buffer).is_ok());
        for (stream, datagram) in &self.named {
            note("unix stream", stream.accept().is_ok());
            note("unix datagram", datagram.recv(&mut buffer).is_ok());
        }
        received
    }
}
