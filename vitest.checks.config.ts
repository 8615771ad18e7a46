import { defineConfig } from "vitest/config"

/** What `npm run check` runs besides tools: the packages as npm installs them, and what the compiler says of a new reason. */
export default defineConfig({
  test: {
    include: ["scripts/test/*.check.ts"],
    environment: "node",
    globalSetup: "./scripts/test-temporary.ts",
    pool: "threads",
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
