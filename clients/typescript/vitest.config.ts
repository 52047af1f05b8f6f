import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Whole streams, a process now and then, and a package manager.
    testTimeout: 600_000,
  },
});
