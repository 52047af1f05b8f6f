export * from "./index.js";
export * from "./parse/index.js";
