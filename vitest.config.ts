import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    environment: "node",
    globalSetup: "./scripts/test-temporary.ts",
    pool: "threads",
    // A fresh module graph per file would load effect again for each of them.
    isolate: false,
    // One worker more than cores: integration tests mostly wait for processes that they started.
    maxWorkers: availableParallelism() + 1,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/summary-reporter.ts"]
  }
})
