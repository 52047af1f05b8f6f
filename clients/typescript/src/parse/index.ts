export { parseCheckpoint } from "./checkpoint.js";
export { DecodeError } from "./errors.js";
export { parseEvent, readEvent } from "./event.js";
export { parseMsg, readMsg } from "./message.js";
