import { defineConfig } from "vitest/config"

/** What `npm run check` runs besides tools: the packages as npm installs them, and what the compiler says of a new reason. */
export default defineConfig({
  test: {
    include: ["scripts/test/embed.integration.test.ts", "scripts/test/*.check.ts"],
    environment: "node",
    pool: "threads",
    env: { CHECKS: "1" },
    testTimeout: 60_000,
    hookTimeout: 60_000
  }
})
