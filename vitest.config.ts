import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"

/** `quick`, for whoever changes code, leaves out tests with the tag `thorough`; `all` leaves out none. A file that is named runs as a whole. */
const isNamed = process.argv.slice(2).some((argument) => argument.includes("/") && !argument.startsWith("-"))
const chosen = process.env["TESTS"] ?? (isNamed ? "all" : "quick")
if (chosen !== "all" && chosen !== "quick") throw new Error(`TESTS is "${chosen}": it may be "quick" or "all"`)

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts"],
    environment: "node",
    globalSetup: "./scripts/test-temporary.ts",
    // Threads share one process, and what a process needs to start another grows with its memory: 2 ms with 50 MB, 40 with 600.
    pool: "forks",
    // A fresh module graph per file would load effect again for each of them.
    isolate: false,
    // Node runs the sources as they are, here as everywhere.
    experimental: { viteModuleRunner: false },
    // One worker more than cores: integration tests mostly wait for processes that they started.
    maxWorkers: availableParallelism() + 1,
    tags: [{ name: "thorough", description: "whole teams, and second implementations of what a quick test proves" }],
    ...(chosen === "quick" ? { tagsFilter: ["!thorough"] } : {}),
    env: { TESTS: chosen },
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/summary-reporter.ts"]
  }
})
