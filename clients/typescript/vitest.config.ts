import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Whole streams, a process now and then, and a package manager.
    testTimeout: 600_000,
    hookTimeout: 60_000,
    // Node 20 has WebSockets, and wants to be asked for them.
    execArgv: ["--experimental-websocket"],
  },
});
