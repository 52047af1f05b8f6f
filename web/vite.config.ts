import { gzipSync } from "node:zlib";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

/** Where the service is that the page talks to while it is worked on. */
const service = process.env.RECOUNT_URL ?? "http://127.0.0.1:7171";

// The service sees the address that it is known by, and so does the page.
const proxy = { "/v1": { target: service, ws: true, changeOrigin: true, headers: { origin: service } } };

/** Puts what the service sends to most browsers beside each part of the page: the same, compressed. */
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
  // The client is a package of its own, and must not bring a React of its own.
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
          // One browser and one service at a time: what is tested here is not how busy the machine is.
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
