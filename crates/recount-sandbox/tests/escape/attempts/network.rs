//! Listeners of the host and sockets beyond the private loopback.

use super::Attempt;
use super::Sign::{Output, Received};

pub(super) const ATTEMPTS: &[Attempt] = &[
    Attempt::new("tcp-loopback", Received, &["echo attack > /dev/tcp/127.0.0.1/$PORT"]),
    Attempt::new("tcp-any-address", Received, &["echo attack > /dev/tcp/0.0.0.0/$PORT"]),
    Attempt::new("tcp-loopback-v6", Received, &["echo attack > /dev/tcp/::1/$PORT6"]).needs(&["IPv6 loopback exists"]),
    Attempt::new("tcp-host-address", Received, &["timeout 2 bash -c 'echo attack > /dev/tcp/$ADDRESS/$PORT'"])
        .needs(&["host has an address beside the loopback"]),
    Attempt::new("udp-loopback", Received, &["echo attack > /dev/udp/127.0.0.1/$UDP"]),
    Attempt::new(
        "tcp-perl",
        Received,
        &["perl -MIO::Socket::INET -e 'IO::Socket::INET->new(\"127.0.0.1:$ENV{PORT}\")->print(\"attack\")'"],
    ),
    Attempt::new("dns", Output, &["timeout 2 getent ahosts example.org && echo ESCAPED"])
        .needs(&["name server answers"]),
    Attempt::new("unix-stream-in-workspace", Received, &["$TOOL stream $WS/host.sock"]),
    Attempt::new("unix-stream-outside", Received, &["$TOOL stream $OUT/host.sock"]),
    Attempt::new(
        "unix-stream-python",
        Received,
        &[
            "/usr/bin/python3 -c \"import os, socket; socket.socket(socket.AF_UNIX).connect(os.environ['WS'] + '/host.sock')\"",
        ],
    ),
    Attempt::new("unix-datagram-in-workspace", Received, &["$TOOL datagram $WS/host.dgram"]),
    Attempt::new("unix-raw-datagram-in-workspace", Received, &["$TOOL raw-datagram $WS/host.dgram"]),
    Attempt::new("unix-datagram-outside", Received, &["$TOOL datagram $OUT/host.dgram"]),
    Attempt::new("unix-abstract-stream", Received, &["$TOOL stream @$ABSTRACT"]),
    Attempt::new("unix-abstract-datagram", Received, &["$TOOL datagram @$ABSTRACT-dgram"]),
    Attempt::new("docker", Output, &["$TOOL stream /var/run/docker.sock; $TOOL stream /run/docker.sock"])
        .needs(&["Docker socket exists"]),
    Attempt::new("raw-socket", Output, &["$TOOL socket 2 3 1"]).needs(&["user is root"]),
    Attempt::new("packet-socket", Output, &["$TOOL socket 17 3 768"]).needs(&["user is root"]),
    Attempt::new("netlink-events", Output, &["$TOOL socket 16 3 15"]),
    Attempt::new("netlink-generic", Output, &["$TOOL socket 16 3 16"]),
    Attempt::new("netlink-audit", Output, &["$TOOL socket 16 3 9"]).control("$TOOL socket 16 3 15"),
    Attempt::new("netlink-user", Output, &["$TOOL socket 16 3 2"]),
    Attempt::new("vsock", Output, &["$TOOL socket 40 1 0"]).needs(&["user may create vsock sockets"]),
    Attempt::new("crypto-socket", Output, &["$TOOL socket 38 5 0"]).needs(&["kernel has the crypto sockets"]),
    Attempt::new("odd-sockets", Output, &["$TOOL odd-sockets"]).needs(&["user may create sockets of odd families"]),
    Attempt::new("host-interfaces", Output, &["grep -v -e '^lo' -e ' lo:' /proc/net/dev | grep -q : && echo ESCAPED"])
        .needs(&["host has an address beside the loopback"]),
];
