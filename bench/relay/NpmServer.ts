/**
 * Program: `@nostr-relay/core` as its own documentation serves it, with the least storage there can be and without the
 * validation of messages that its users add.
 */
import { EventRepository, type Event, type Filter } from "@nostr-relay/common"
import { NostrRelay } from "@nostr-relay/core"
import { NodeWS } from "@effect/platform-node"
import { serves } from "./ServedRelay.ts"

class MemoryRepository extends EventRepository {
  private readonly events = new Map<string, Event>()
  isSearchSupported() {
    return false
  }
  upsert(event: Event) {
    const isDuplicate = this.events.has(event.id)
    this.events.set(event.id, event)
    return { isDuplicate }
  }
  find(filter: Filter) {
    return filter.ids?.flatMap((id) => this.events.get(id) ?? []) ?? []
  }
  async destroy() {
    this.events.clear()
  }
}

const relay = new NostrRelay(new MemoryRepository())
const server = new NodeWS.WebSocketServer({ port: 0, host: "127.0.0.1" }, () => {
  const address = server.address()
  if (typeof address === "object" && address !== null) serves(`ws://127.0.0.1:${address.port}`)
})
server.on("connection", (client, request) => {
  relay.handleConnection(client, request.socket.remoteAddress)
  client.on("message", (data) => void relay.handleMessage(client, JSON.parse(String(data))))
  client.on("close", () => relay.handleDisconnect(client))
})
