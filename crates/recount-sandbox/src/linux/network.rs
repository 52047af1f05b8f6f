//! The loopback interface of a new network namespace.

use rustix::net::{AddressFamily, RecvFlags, SendFlags, SocketType, recv, send, socket};

/// `RTM_NEWLINK`, and the flags of a request that wants a response.
const NEW_LINK: u16 = 16;
const REQUEST_WITH_RESPONSE: u16 = 0x5;
/// The type of a message that reports the result of a request.
const ERROR: u16 = 2;
/// The index of the loopback interface, and the flag that starts it.
const LOOPBACK: u32 = 1;
const UP: u32 = 1;

/// Starts the loopback interface.
pub(super) fn start_loopback() -> std::io::Result<()> {
    let socket = socket(AddressFamily::NETLINK, SocketType::RAW, None)?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut response = [0; 256];
    let (length, _) = recv(&socket, &mut response[..], RecvFlags::empty())?;
    let response = response.get(..length).unwrap_or_default();
    let field = |at: usize| response.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    let kind = response.get(4..6).and_then(|bytes| bytes.try_into().ok()).map(u16::from_ne_bytes);
    match (kind, field(16).map(i32::from_ne_bytes)) {
        (Some(ERROR), Some(0)) => Ok(()),
        (Some(ERROR), Some(code)) => Err(std::io::Error::from_raw_os_error(-code)),
        _ => Err(std::io::Error::other("the kernel sent an unknown response")),
    }
}

/// A netlink header, followed by the interface.
fn request() -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    bytes.extend(32_u32.to_ne_bytes());
    bytes.extend(NEW_LINK.to_ne_bytes());
    bytes.extend(REQUEST_WITH_RESPONSE.to_ne_bytes());
    bytes.extend(1_u32.to_ne_bytes());
    bytes.extend(0_u32.to_ne_bytes());
    // Family and type are not given.
    bytes.extend([0; 4]);
    bytes.extend(LOOPBACK.to_ne_bytes());
    bytes.extend(UP.to_ne_bytes());
    bytes.extend(UP.to_ne_bytes());
    bytes
}
