/**
 * An MCP client's transport over a child process that somebody else owns. The SDK's own one lets the child share our
 * process group and adds variables to its environment.
 */
import { ReadBuffer, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js"

/** Speaks newline-delimited JSON over the streams; ending the child is left to its owner. */
export class McpTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>
  readonly #buffer = new ReadBuffer()

  constructor(pipes: { readonly writable: WritableStream<Uint8Array>; readonly readable: ReadableStream<Uint8Array> }) {
    this.#writer = pipes.writable.getWriter()
    this.#reader = pipes.readable.getReader()
  }

  async start(): Promise<void> {
    void this.#read()
  }

  send(message: JSONRPCMessage): Promise<void> {
    return this.#writer.write(new TextEncoder().encode(serializeMessage(message)))
  }

  async close(): Promise<void> {
    await this.#writer.close().catch(() => undefined)
    this.onclose?.()
  }

  async #read(): Promise<void> {
    try {
      for (;;) {
        const { done, value } = await this.#reader.read()
        if (done) break
        this.#buffer.append(Buffer.from(value))
        for (let message = this.#next(); message !== null; message = this.#next()) this.onmessage?.(message)
      }
    } catch (error) {
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
    }
    this.onclose?.()
  }

  #next(): JSONRPCMessage | null {
    try {
      return this.#buffer.readMessage()
    } catch (error) {
      // A line that is no message: skipped, as the SDK's transports do.
      this.onerror?.(error instanceof Error ? error : new Error(String(error)))
      return this.#next()
    }
  }
}
