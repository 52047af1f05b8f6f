import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Some tests fold many streams, spawn processes, or run a package manager.
    testTimeout: 600_000,
    hookTimeout: 60_000,
    // Node 20 has WebSocket only behind a flag.
    execArgv: ["--experimental-websocket"],
  },
});
