import { defineConfig } from "vitest/config"
import base from "../vitest.config.ts"

const DAY = 24 * 60 * 60 * 1000

/** A soak takes as long as it takes, and says how long each test took. */
export default defineConfig({
  ...base,
  test: {
    ...base.test,
    testTimeout: DAY,
    hookTimeout: DAY,
    setupFiles: ["./scripts/soakProperties.ts"],
    reporters: ["verbose", "./scripts/summary-reporter.ts"]
  }
})
