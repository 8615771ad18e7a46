/**
 * Under which URL agents reach the relay of a trial, by the way that leads from their environment to this machine. Agents keep
 * the relay's own URL wherever that is possible: relays select by the name they are dialled by, and signatures name it. Pure.
 */
import type { TrialOptions } from "@buzz-orchestra/runtime/TrialOptions"
import type { Way } from "./HostAccess.ts"
import type { RelayRequest } from "./TrialRequest.ts"

/** The relay as a trial is told of it. */
export type RelayAccess = Pick<TrialOptions, "relayUrl" | "userRelayUrl" | "relayGateway">

const LOOPBACK = "127.0.0.1"

/** Where the embedded relay must listen: where the environment reaches it, and nowhere else. */
export const bindAddress = (way: Way): string => (way._tag === "Gateway" ? way.address : LOOPBACK)

/** The embedded relay, at `port` of `bindAddress`. `undefined` when no way leads from the environment to it. */
export const ofEmbedded = (way: Way, port: number, hasForwarder: boolean): RelayAccess | undefined => {
  const relayUrl = `ws://${LOOPBACK}:${port}`
  switch (way._tag) {
    case "SameNetwork":
    case "Bridge":
      return { relayUrl }
    case "Gateway": {
      const gateway = `${way.name}:${port}`
      const userRelayUrl = `ws://${way.address}:${port}`
      return hasForwarder
        ? { relayUrl, userRelayUrl, relayGateway: gateway }
        : { relayUrl: `ws://${gateway}`, userRelayUrl }
    }
    case "None":
      return undefined
  }
}

/** A relay that runs already. A gateway that was named by hand is believed. */
export const ofRunning = (
  { url, userUrl }: Extract<RelayRequest, { _tag: "Running" }>,
  gateway: string | undefined,
  way: Way,
  hasForwarder: boolean
): RelayAccess => {
  const access = { relayUrl: url, ...(userUrl === undefined ? {} : { userRelayUrl: userUrl }) }
  const relayGateway = gateway ?? (hasForwarder ? loopbackGateway(userUrl ?? url, url, way) : undefined)
  return relayGateway === undefined ? access : { ...access, relayGateway }
}

/** Engines in a virtual machine have a name for this machine that leads to its loopback; then a relay there is one forwarder away. */
const loopbackGateway = (here: string, dialled: string, way: Way): string | undefined => {
  const port = URL.parse(here)?.port
  return way._tag === "Gateway" && way.address === LOOPBACK && isOnLoopback(dialled)
    ? `${way.name}:${port || "80"}`
    : undefined
}

/** Without TLS, which no forwarder can end. */
const isOnLoopback = (url: string): boolean => {
  const parsed = URL.parse(url)
  return parsed?.protocol === "ws:" && /^(localhost|\[::1\]|127(\.\d+){3})$/.test(parsed.hostname)
}
