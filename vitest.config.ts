import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    environment: "node",
    pool: "threads",
    // A fresh module graph per file would load effect again for each of them.
    isolate: false,
    testTimeout: 20_000,
    reporters: ["default", "./scripts/summary-reporter.ts"]
  }
})
