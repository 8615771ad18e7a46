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

/**
 * Where a relay on this machine's loopback is offered to containers, and the address that leads to it. `undefined` where another way
 * leads there, or where no forwarder keeps its own address for the agents: then it would not know the name it is dialled by.
 */
export const offeredAt = (
  { url, userUrl }: Extract<RelayRequest, { _tag: "Running" }>,
  gateway: string | undefined,
  way: Way,
  hasForwarder: boolean
): { readonly host: string; readonly target: { readonly host: string; readonly port: number } } | undefined => {
  if (gateway !== undefined || !hasForwarder || way._tag !== "Gateway" || way.address === LOOPBACK) return undefined
  const here = URL.parse(userUrl ?? url)
  if (here === null || !isOnLoopback(url) || !/^(ws|http):$/.test(here.protocol)) return undefined
  const target = { host: here.hostname.replace(/^\[|\]$/g, ""), port: Number(here.port || "80") }
  return { host: way.address, target }
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
