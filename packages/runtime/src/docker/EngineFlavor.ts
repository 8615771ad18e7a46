/**
 * Where Docker and Podman differ behind the same API, in one place. Measured against dockerd 20.10 and Podman 4.3.
 */

/** Which engine answers. */
export type EngineFlavor = "docker" | "podman"

/** What code above the API must know to serve both. */
export interface EngineTraits {
  /** Hosts entry that leads to the host; `undefined` when the engine has a name of its own for it. */
  readonly hostGateway: string | undefined
  /** The name under which a container finds the host. */
  readonly hostName: string
  /** Whether `State.OOMKilled` can be believed; if not, exit code 137 under a memory limit is all there is. */
  readonly reportsOutOfMemory: boolean
  /** A hijacked exec's stdin begins with the request's own JSON body, which whatever reads it must survive. */
  readonly stdinStartsWithRequest: boolean
  /** A ulimit replaces the engine's whole list, so both must always be given together. */
  readonly ulimitsReplaceDefaults: boolean
}

const TRAITS: Readonly<Record<EngineFlavor, EngineTraits>> = {
  docker: {
    hostGateway: "host.docker.internal:host-gateway",
    hostName: "host.docker.internal",
    reportsOutOfMemory: true,
    stdinStartsWithRequest: false,
    ulimitsReplaceDefaults: false
  },
  podman: {
    // Through Docker's API Podman writes the literal word `host-gateway` into /etc/hosts.
    hostGateway: undefined,
    hostName: "host.containers.internal",
    reportsOutOfMemory: false,
    stdinStartsWithRequest: true,
    ulimitsReplaceDefaults: true
  }
}

/** The traits of an engine. */
export const traitsOf = (flavor: EngineFlavor): EngineTraits => TRAITS[flavor]

/** Podman names itself among the components of `GET /version`; everything else that speaks the API is taken for Docker. */
export const flavorOf = (components: ReadonlyArray<{ readonly Name: string }>): EngineFlavor =>
  components.some(({ Name }) => Name.toLowerCase().includes("podman")) ? "podman" : "docker"

/** What the engines call the events of a container that say the same. */
export const EVENT_NAMES = {
  stopped: ["die", "died"],
  paused: ["pause"],
  removed: ["destroy", "remove"],
  "out-of-memory": ["oom"]
} as const
