/**
 * The page of a trial in a real browser, on a desk and on a phone, light and dark. Runs in a soak, and where `BROWSER=1` is set, on a
 * machine with Chromium; `BROWSER_ARTIFACTS` names a directory that keeps what it looked like.
 */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { showPage } from "../src/ShowPage.ts"
import { findChromium, Page } from "./Chromium.ts"
import { report } from "./reports.ts"

const asked = process.env["BROWSER"] === "1" || process.env["SOAK"] === "1"
const chromium = asked ? findChromium() : undefined
const VIEWS = [
  { name: "desk", width: 1200 },
  { name: "phone", width: 390 }
]

describe.skipIf(chromium === undefined)("the page of a trial, in a browser", () => {
  const directory = mkdtempSync(join(tmpdir(), "show-page-"))
  const url = `file://${join(directory, "trial.html")}`
  let page: Page

  beforeAll(async () => {
    writeFileSync(join(directory, "trial.html"), showPage(report))
    page = await Page.open(chromium ?? "")
  }, 60_000)
  afterAll(async () => {
    await page.close()
    rmSync(directory, { recursive: true })
  })

  for (const { name, width } of VIEWS)
    for (const scheme of ["light", "dark"] as const)
      it(`fits a ${name}, is readable in ${scheme}, and asks for nothing but itself`, async () => {
        page.requested.length = 0
        await page.show(url, width, scheme)
        assert.deepStrictEqual(page.requested, [url])
        assert.isAtMost(await page.evaluate<number>("document.documentElement.scrollWidth"), width)
        assert.isAtLeast(await page.evaluate<number>(LEAST_CONTRAST), 4.5)
        assert.strictEqual(
          await page.evaluate<string>("document.querySelector('article .said').textContent"),
          "write it"
        )
        assert.strictEqual(await page.evaluate<number>("document.querySelectorAll('script, b').length"), 0)
        const [turn, track] = await page.evaluate<ReadonlyArray<number>>(
          "['.turn', '.track'].map((it) => document.querySelector('.row:nth-of-type(2) ' + it).getBoundingClientRect().width)"
        )
        // Five of twenty seconds.
        assert.approximately((turn ?? 0) / (track ?? 1), 0.25, 0.01)
        const kept = process.env["BROWSER_ARTIFACTS"]
        if (kept === undefined) return
        mkdirSync(kept, { recursive: true })
        writeFileSync(join(kept, `show-${name}-${scheme}.png`), await page.screenshot())
      }, 60_000)
})

/** The smallest contrast of any text with what is behind it, as WCAG computes it. */
const LEAST_CONTRAST = `(() => {
  const channel = (v) => (v /= 255, v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
  const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b)
  const rgb = (text) => text.match(/[\\d.]+/g).map(Number)
  const behind = (node) => {
    for (let it = node; it; it = it.parentElement) {
      const colour = rgb(getComputedStyle(it).backgroundColor)
      if (colour.length < 4 || colour[3] > 0) return colour
    }
    return [255, 255, 255]
  }
  const texts = [...document.querySelectorAll("h1,h2,p,dt,dd,th,td,strong,.name,.note,.ticks span,li")]
  return Math.min(...texts.filter((it) => it.textContent.trim()).map((it) => {
    const [a, b] = [light(rgb(getComputedStyle(it).color)), light(behind(it))]
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
  }))
})()`
