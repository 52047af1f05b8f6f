import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** The address of the service during development. */
const service = process.env.RECOUNT_URL ?? "http://127.0.0.1:7171";

// The service and the page see the same host.
const proxy = { "/v1": { target: service, ws: true, changeOrigin: true, headers: { origin: service } } };

/** Adds a compressed copy of each file, which the service sends to most browsers. */
const compressed: Plugin = {
  name: "compressed",
  generateBundle(_, bundle) {
    for (const [fileName, part] of Object.entries(bundle)) {
      const source = part.type === "chunk" ? part.code : part.source;
      this.emitFile({ type: "asset", fileName: `${fileName}.gz`, source: gzipSync(source, { level: 9 }) });
    }
  },
};

export default defineConfig({
  plugins: [react(), compressed],
  // The client is a separate package and must share the page's React.
  resolve: { dedupe: ["react", "react-dom"] },
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 800 },
  server: { proxy },
  preview: { proxy },
  test: {
    projects: [
      { extends: true, test: { name: "unit", include: ["test/**/*.test.ts"] } },
      {
        extends: true,
        test: {
          name: "e2e",
          include: ["e2e/**/*.test.ts"],
          // One browser and one service at a time, because the tests must not depend on the load of the machine.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          expect: { poll: { timeout: 20_000 } },
        },
      },
      {
        extends: true,
        test: { name: "pictures", include: ["e2e/pictures.ts"], testTimeout: 60_000, hookTimeout: 60_000 },
      },
    ],
  },
});
