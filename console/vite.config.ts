/** How the console is built: JSX for Preact, one file of script for the first page, and one for each page that is opened later. */
import { defineConfig } from "vite";

export default defineConfig({
  root: import.meta.dirname,
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // A policy without inline script or style has no place for data in the page.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // The tables of transliteration, which are fetched when they are first needed.
    chunkSizeWarningLimit: 700,
  },
  // For whoever works on the pages: `npx vite console` beside a running service.
  server: {
    host: "127.0.0.1",
    proxy: Object.fromEntries(
      ["/console/1", "/sms", "/account", "/operator", "/sandbox", "/1", "/docs", "/openapi.json"].map((path) => [
        path,
        "http://127.0.0.1:8080",
      ]),
    ),
  },
});
