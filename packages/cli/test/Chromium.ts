/**
 * A Chromium from the machine's packages, asked over its pipe: what a page looks like where people read it.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Readable, Writable } from "node:stream"

/** Where it is; `undefined` on a machine without one. */
export const findChromium = (): string | undefined =>
  ["chromium", "chromium-browser", "google-chrome"].find(
    (name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0
  )

type Fields = Readonly<Record<string, unknown>>

/** One page in a browser of its own, without a network. */
export class Page {
  /** URLs that the page asked for. */
  readonly requested: Array<string> = []
  private readonly process: ChildProcess
  private readonly profile = mkdtempSync(join(tmpdir(), "chromium-"))
  private readonly waiting = new Map<number, (result: Fields) => void>()
  private session: string | undefined
  private count = 0

  private constructor(program: string) {
    const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe"]
    const args = [...flags, "--no-first-run", "--disable-background-networking", `--user-data-dir=${this.profile}`]
    this.process = spawn(program, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] })
    let held = ""
    const output = this.process.stdio[4] as Readable
    output.setEncoding("utf8").on("data", (text: string) => {
      const messages = `${held}${text}`.split("\0")
      held = messages.pop() ?? ""
      for (const message of messages) this.heard(JSON.parse(message) as Fields)
    })
  }

  /** Opens a browser and a page that is still empty. */
  static async open(program: string): Promise<Page> {
    const page = new Page(program)
    const { targetId } = await page.ask("Target.createTarget", { url: "about:blank" })
    const { sessionId } = await page.ask("Target.attachToTarget", { targetId, flatten: true })
    page.session = String(sessionId)
    for (const domain of ["Page", "Network", "Runtime"]) await page.ask(`${domain}.enable`, {})
    return page
  }

  /** Shows the page at this URL in a window of this width, in this scheme of colours. */
  async show(url: string, width: number, scheme: "light" | "dark"): Promise<void> {
    const features = [{ name: "prefers-color-scheme", value: scheme }]
    await this.ask("Emulation.setEmulatedMedia", { features })
    const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 600 }
    await this.ask("Emulation.setDeviceMetricsOverride", metrics)
    await this.ask("Page.navigate", { url })
    await this.evaluate(
      "new Promise((done) => document.readyState === 'complete' ? done() : addEventListener('load', done))"
    )
  }

  /** The value of an expression in the page. */
  async evaluate<A>(expression: string): Promise<A> {
    const { result } = await this.ask("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true })
    return (result as { readonly value: A }).value
  }

  /** The whole page as a PNG. */
  async screenshot(): Promise<Uint8Array> {
    const { data } = await this.ask("Page.captureScreenshot", { captureBeyondViewport: true })
    return Buffer.from(String(data), "base64")
  }

  /** Ends the browser. */
  async close(): Promise<void> {
    const ended = new Promise((done) => this.process.once("exit", done))
    this.process.kill("SIGKILL")
    await ended
    rmSync(this.profile, { recursive: true, force: true, maxRetries: 5 })
  }

  private ask(method: string, params: Fields): Promise<Fields> {
    const id = ++this.count
    const session = this.session === undefined ? {} : { sessionId: this.session }
    const answer = new Promise<Fields>((done) => this.waiting.set(id, done))
    ;(this.process.stdio[3] as Writable).write(`${JSON.stringify({ id, method, params, ...session })}\0`)
    return answer
  }

  private heard({ id, method, params, result }: Fields): void {
    if (typeof id === "number") this.waiting.get(id)?.((result ?? {}) as Fields)
    if (method === "Network.requestWillBeSent")
      this.requested.push((params as { request: { url: string } }).request.url)
  }
}
